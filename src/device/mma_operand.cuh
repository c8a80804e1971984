// Operands of mma.sync in shared memory: 128 or 256 rows of a, or columns of b, 64 elements deep, in
// rows of 128 bytes with the 128-byte swizzle, so that ldmatrix reads and copies write without bank
// conflicts. The layouts are those of wgmma (device/wgmma_operand.cuh):
//   (width,64):(64,1)                     where the depth is contiguous in memory
//   ((64,width/64),64):((1,4096),64)      where the rows of a or the columns of b are
//
// Copies of 16 bytes are asynchronous. What crosses an edge of the matrix or lies askew is read
// element by element, so that any matrix will do.
#pragma once

#include "core/layout.h"
#include "device/from_detail.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/mma.cuh"

namespace ridge {

template <class T, bool kTurned, int kTileWidth = 128>
struct MmaOperand {
  using Element = T;
  static constexpr bool kIsTurned = kTurned;
  static constexpr int kWidth = kTileWidth, kDepth = 64;
  static constexpr int kBytes = kWidth * kDepth * 2;
  static constexpr int kRowBytes = 128;
  static constexpr int kChunk = 8;  // elements of 16 bytes, along the contiguous dimension

  static __device__ __forceinline__ int place(int x, int k) {  // in bytes
    constexpr layouts::Swizzle kSwizzle = layouts::kSwizzle128;
    const int plain =
        kTurned ? x / 64 * (64 * kRowBytes) + k * kRowBytes + x % 64 * 2 : x * kRowBytes + k * 2;
    return int(kSwizzle(plain));
  }

  // --- Fragments of 16 rows or columns and 16 levels ---

  // Where this lane reads its row of the first fragment, whose first row or column is x: for a, in
  // the order of the four registers of mma; for b, two registers for the first 8 columns, two for
  // the others.
  static __device__ __forceinline__ int place_a(int x) {
    const int lane = int(threadIdx.x) % 32;
    return kTurned ? place(x + lane / 8 % 2 * 8, lane % 8 + lane / 16 * 8)
                   : place(x + lane % 16, lane / 16 * 8);
  }
  static __device__ __forceinline__ int place_b(int x) {
    const int lane = int(threadIdx.x) % 32;
    return kTurned ? place(x + lane / 16 * 8, lane % 16)
                   : place(x + lane % 8 + lane / 16 * 8, lane / 8 % 2 * 8);
  }
  // The same for the fragment that is 16 `i` further along the width, and `level` deeper. Within a
  // row of 128 bytes the swizzle makes an exclusive or of what was an addition.
  static __device__ __forceinline__ int moved(int first, int i, int level) {
    return kTurned ? (first ^ (i * 32)) + level * kRowBytes
                   : (first ^ (level * 2)) + i * 16 * kRowBytes;
  }
  static __device__ __forceinline__ void fragment(uint32_t (&to)[4], const char* at) {
    ptx::ldmatrix_x4<kTurned>(to, at);
  }

  // --- Copies ---

  // An operand in global memory, from the first row or column of the tile on.
  struct Source {
    const T* data;
    int64_t width_step, depth_step;
    int64_t widths, depths;  // how many are left
  };

  // Brings one step after another. Each thread keeps the place of its own chunks; a step that lies
  // inside of the matrix as a whole is copied without a question about any element.
  template <int kThreads>
  class Copy {
   public:
    __device__ __forceinline__ explicit Copy(const Source& source)
        : source_(source),
          x_(kTurned ? int(threadIdx.x) % kPerLine * kChunk : int(threadIdx.x) / kPerLine),
          level_(kTurned ? int(threadIdx.x) / kPerLine : int(threadIdx.x) % kPerLine * kChunk),
          place_(place(x_, level_)),
          from_(source.data + x_ * source.width_step + level_ * source.depth_step),
          pass_step_(kLines * (kTurned ? source.depth_step : source.width_step)),
          is_whole_((kTurned ? source.width_step : source.depth_step) == 1 &&
                    is_pack_aligned(source.data) &&
                    (kTurned ? source.depth_step : source.width_step) % kChunk == 0 &&
                    source.widths >= kWidth) {}

    // Asks for the levels k …, which are those after the last ones. The caller commits, waits, and
    // meets a barrier of the block.
    __device__ __forceinline__ void ask(int64_t k, char* shared) {
      char* const to = shared + place_;
      if (is_whole_ && k + kDepth <= source_.depths) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass)
          ptx::copy_async_16(to + pass * kLines * kRowBytes, from_ + pass * pass_step_);
      } else {
#pragma unroll 1
        for (int pass = 0; pass < kPasses; ++pass)
          load_chunk(to + pass * kLines * kRowBytes, source_, x_ + (kTurned ? 0 : pass * kLines),
                     k + level_ + (kTurned ? pass * kLines : 0));
      }
      from_ += kDepth * source_.depth_step;
    }

   private:
    static constexpr int kPerLine = (kTurned ? kWidth : kDepth) / kChunk;  // chunks
    static constexpr int kLines = kThreads / kPerLine;                     // in one pass
    static constexpr int kPasses = kWidth * kDepth / kChunk / kThreads;
    static_assert(kLines % 8 == 0);  // so that all passes of a thread have the same swizzle

    Source source_;
    int x_, level_, place_;
    const T* from_;
    int64_t pass_step_;
    bool is_whole_;  // the same in all threads of the block
  };

 private:
  static __device__ __forceinline__ void load_chunk(char* to, const Source& from, int64_t x,
                                                    int64_t k) {
    const T* const first = from.data + x * from.width_step + k * from.depth_step;
    const int64_t step = kTurned ? from.width_step : from.depth_step;
    const int64_t left =
        kTurned ? (k < from.depths ? from.widths - x : 0) : (x < from.widths ? from.depths - k : 0);
    Pack<T> pack;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) pack[i] = i < left ? first[i * step] : T(0.0f);
    *reinterpret_cast<Pack<T>*>(to) = pack;
  }
};

}  // namespace ridge
