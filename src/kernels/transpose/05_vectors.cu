// transpose rung 05, vectors: 16 bytes per lane, on both sides.
//
// Since 04_swizzled: a thread loads a square of P packs (P elements each) from P rows and turns it
//   in registers, so shared memory is also written and read 16 bytes at a time, swizzled by pack. P
//   loads of 16 bytes are under way at once.
// Stops at: HBM. It takes only rows that start at multiples of 16 bytes, on both sides; 08 takes
//   all.
// Not for: rows off their 16-byte boundaries (08); and a transpose that a matrix product could do
//   while reading.
#include <algorithm>

#include "device/register_transpose.cuh"
#include "device/shifted.cuh"
#include "kernels/transpose/tiles.cuh"
#include "select/select.h"

namespace ridge::transpose::vectors {

// Squares in a tile: across along the input's rows, down along the output's. Multiples of 8, for
// the swizzle; 16 make runs of 256 bytes.
template <class T>
struct Squares;
template <>
struct Squares<uint32_t> {
  static constexpr int kAcross = 16, kDown = 16;  // 64 x 64 elements
};
template <>
struct Squares<uint16_t> {
  static constexpr int kAcross = 16, kDown = 16;  // 128 x 128
};
template <>
struct Squares<uint8_t> {
  static constexpr int kAcross = 8, kDown = 16;  // 256 x 128
};
template <class T>
constexpr int kThreads = Squares<T>::kAcross* Squares<T>::kDown;
constexpr int kGroup = 64;  // tiles below each other
template <class T>
constexpr Tuned kTuned = {2.5, sizeof(T) == 1 ? 0.81 : 0.84};

template <class T>
__global__ void __launch_bounds__(kThreads<T>) transpose_vectors(Args a, Tiling tiling) {
  constexpr int P = kPackSize<T>;
  constexpr int kAcross = Squares<T>::kAcross, kDown = Squares<T>::kDown;
  // Pack d of output row c is at [c][d ^ c / P % 8]: writers of 8 squares side by side and readers
  // of 8 packs of a row both find 8 different groups of banks.
  __shared__ uint4 turned[kAcross * P][kDown];

  const TileAt at = tile_at<kGroup>(tiling, blockIdx.x);
  const int64_t row0 = int64_t(at.down) * (kDown * P), col0 = int64_t(at.across) * (kAcross * P);
  {
    const int across = threadIdx.x % kAcross, down = threadIdx.x / kAcross;
    const int64_t r = row0 + down * P, c = col0 + across * P;
    const T* in = static_cast<const T*>(a.in) + at.batch * a.in_batch_stride;  // (rows, cols)
    const T* square = in + r * a.in_stride + c;
    const int cols = int(min(max(a.cols - c, int64_t(0)), int64_t(P)));  // of the square
    const int rows = int(min(max(a.rows - r, int64_t(0)), int64_t(P)));
    uint4 x[P];
#pragma unroll
    for (int i = 0; i < P; ++i)
      if (cols == P && i < rows) x[i] = *reinterpret_cast<const uint4*>(square + i * a.in_stride);
    if (cols < P || rows < P) {  // at the edges of the matrix
#pragma unroll
      for (int i = 0; i < P; ++i)
        if (cols < P || i >= rows) x[i] = gather(square + i * a.in_stride, i < rows ? cols : 0);
    }
    transpose_registers(x, T());
#pragma unroll
    for (int i = 0; i < P; ++i) turned[across * P + i][down ^ across % 8] = x[i];
  }
  __syncthreads();

  const int down = threadIdx.x % kDown;
  const int length = int(min(a.rows - row0, int64_t(kDown * P)));   // of the tile's output rows
  T* out = static_cast<T*>(a.out) + at.batch * a.out_batch_stride;  // (cols, rows)
#pragma unroll 4
  for (int i = threadIdx.x / kDown; i < kAcross * P; i += kThreads<T> / kDown) {
    if (col0 + i >= a.cols) break;
    T* row = out + (col0 + i) * a.out_stride + row0;
    const int swizzle = i / P % 8;
    const int packs = length / P;
    const uint4 pack = turned[i][down ^ swizzle];
    if (down < packs) {
      reinterpret_cast<uint4*>(row)[down] = pack;
    } else if (down == packs) {
      for (int e = 0; e < length - packs * P; ++e)
        row[packs * P + e] = reinterpret_cast<const T*>(&turned[i][down ^ swizzle])[e];
    }
  }
}

static bool is_aligned(const Args& a) {
  const auto size = int64_t(size_of(a.dtype));
  const auto whole = [&](int64_t elements) { return elements * size % kPackBytes == 0; };
  return is_pack_aligned(a.in) && is_pack_aligned(a.out) && (a.rows <= 1 || whole(a.in_stride)) &&
         (a.cols <= 1 || whole(a.out_stride)) &&
         (a.batch <= 1 || (whole(a.in_batch_stride) && whole(a.out_batch_stride)));
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (const Support s = moves(a); !s) return s;
  return is_aligned(a) ? kSupported : "rows must start at multiples of 16 bytes";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (elements(a) == 0) return Status::ok();
  return with_raw_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const Tiling tiling =
        tiling_of(a, Squares<T>::kDown * kPackSize<T>, Squares<T>::kAcross * kPackSize<T>);
    transpose_vectors<T><<<tiling.tiles, kThreads<T>, 0, stream>>>(a, tiling);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return with_raw_type(a.dtype, [&](auto t) {  // a tile costs the same where it hangs over
    using T = decltype(t);
    constexpr int kRows = Squares<T>::kDown * kPackSize<T>,
                  kCols = Squares<T>::kAcross * kPackSize<T>;
    const double tiles = tiling_of(a, kRows, kCols).tiles;
    return streaming_us(kTuned<T>, tiles * kRows * kCols * sizeof(T) * 2, device);
  });
}
constinit const Rung rung = {.idea = "16 bytes per lane, squares turned in registers",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::transpose::vectors
