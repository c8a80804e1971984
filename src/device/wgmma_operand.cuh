// Operands of wgmma as the copy engine brings them: `width` rows of a or columns of b, 64 elements
// of 16 bits deep, in rows of 128 bytes with the 128-byte swizzle. Of tf32, 32 elements.
//
// Where the depth is contiguous in memory, row x of the tile is 64 levels of x:
//   ((8,width/8),64):((64,512),1)
// Where the rows of a or the columns of b are contiguous, the tile is made of boxes of 64 of them:
//   ((64,width/64),64):((1,4096),64)
// wgmma itself takes only the former in tf32.
#pragma once

#include "core/layout.h"
#include "device/ptx/tma.cuh"
#include "device/ptx/wgmma.cuh"
#include "device/tensor_map.h"

namespace ridge {

enum class Contiguous : uint8_t { depth, width };

template <int kWidth, Contiguous kContiguous, int kElementBytes = 2>
struct WgmmaOperand {
  static constexpr int kRowBytes = 128, kBytesPerElement = kElementBytes;
  static constexpr int kDepth = kRowBytes / kElementBytes;  // elements
  static constexpr int kStepDepth = 32 / kElementBytes;     // of one product
  static constexpr int kBytes = kWidth * kRowBytes;
  static constexpr bool kIsTurned = kContiguous == Contiguous::width;
  static constexpr int kBox = kDepth;  // of the contiguous dimension
  static_assert(kWidth % (kIsTurned ? kBox : 8) == 0 && kWidth <= 256);

  // (width, depth) → offset in elements, before the swizzle.
  static __host__ __device__ constexpr layouts::Layout layout() {
    using layouts::Layout;
    if (!kIsTurned) return layouts::row_major(kWidth, kDepth);
    Layout made;
    made.begin_mode();
    made.add({kBox, 1});
    made.add({kWidth / kBox, kBox * kDepth});
    made.append(Layout(kDepth, kBox));
    return made;
  }

  // From kBox to kBox rows or columns. Layouts are evaluated in constants only: at run time they would
  // be loops with divisions.
  static constexpr int kBytesPerBox = kBox * kRowBytes;
  static_assert(kWidth <= kBox || kElementBytes * layout()(kBox, 0) == kBytesPerBox);

  // Brings rows or columns x … of the levels k … to `shared`, which is a multiple of 1024 bytes.
  // With several blocks, to the same place in each of them.
  static __device__ __forceinline__ void load(void* shared, const CUtensorMap* map, int x, int k,
                                              int batch, uint64_t* barrier, uint16_t blocks = 0,
                                              bool once = false) {
    const auto box = [&](void* to, int fast, int slow) {
      if (blocks != 0) ptx::tma_load_multicast(to, map, fast, slow, batch, barrier, blocks);
      else if (once) ptx::tma_load_once(to, map, fast, slow, batch, barrier);
      else ptx::tma_load(to, map, fast, slow, batch, barrier);
    };
    if constexpr (kIsTurned) {
#pragma unroll
      for (int i = 0; i < kWidth / kBox; ++i)
        box(static_cast<char*>(shared) + i * kBytesPerBox, x + i * kBox, k);
    } else {
      box(shared, k, x);
    }
  }

  // Of the tile's rows or columns x … and levels k …, multiples of kBox and of kStepDepth.
  static __device__ __forceinline__ uint64_t descriptor(const void* shared, int x, int k) {
    static_assert(!kIsTurned || kElementBytes == 2);
    constexpr int kPerStep = kElementBytes * int(layout()(0, kStepDepth));
    // From box to box along the width; used only where the width is contiguous.
    constexpr uint32_t kLeading = kIsTurned ? kBytesPerBox : 16;
    // From 8 to 8 elements along the dimension that is not contiguous.
    constexpr uint32_t kStride =
        kElementBytes * uint32_t(kIsTurned ? layout()(0, 8) : layout()(8, 0));
    return ptx::wgmma_descriptor(
        static_cast<const char*>(shared) + x / kBox * kBytesPerBox + k / kStepDepth * kPerStep,
        kLeading, kStride);
  }

  // The map of matrices whose contiguous dimension is `fast` long, the other one `slow`. Pitches in
  // bytes. Elements of 4 bytes are rounded to tf32.
  static Expected<CUtensorMap> map(const void* data, int64_t width, int64_t depth, int64_t batch,
                                   int64_t pitch, int64_t batch_pitch) {
    const auto fast = uint64_t(kIsTurned ? width : depth),
               slow = uint64_t(kIsTurned ? depth : width);
    return make_tensor_map({.base = data,
                            .element_bytes = kElementBytes,
                            .rounds_to_tf32 = kElementBytes == 4,
                            .size = {fast, slow, uint64_t(batch)},
                            .pitch = {uint64_t(pitch), uint64_t(batch_pitch)},
                            .box = {kBox, uint32_t(kIsTurned ? kDepth : kWidth), 1}});
  }
};

}  // namespace ridge
