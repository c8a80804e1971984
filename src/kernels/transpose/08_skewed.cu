// transpose rung 08, skewed: any size, stride and alignment, 16 bytes at a time.
//
// Since 07_words: rows of odd strides have their packs too, only at other columns. A tile keeps the
//   packs of its rows as they lie in memory, and whoever looks for an element adds its row's shift.
//   On the way out every output row starts at its own multiple of 32 bytes and gathers its packs
//   element by element, which only shared memory sees: both sides of global memory move 16 bytes a
//   lane. All packs of a thread are under way at once, in registers: it has them to spare while it
//   loads, and cp.async, which needs none, took 6 % longer on an H200.
// Stops at: HBM; for 1-byte elements, at shared memory's instructions.
// Not for: small matrices, of which its large tiles leave most SMs idle.
#include "device/pack.cuh"
#include "kernels/transpose/tiles.cuh"
#include "select/select.h"

namespace ridge::transpose::skewed {

// Elements of a tile. Rows are whole lines of 128 bytes of the output.
template <class T>
struct Shape;
template <>
struct Shape<uint32_t> {
  static constexpr int kRows = 128, kCols = 128, kThreads = 512;  // 71 KB
};
template <>
struct Shape<uint16_t> {
  static constexpr int kRows = 256, kCols = 128, kThreads = 512;  // 73 KB
};
template <>
struct Shape<uint8_t> {
  static constexpr int kRows = 256, kCols = 256, kThreads = 512;  // 77 KB
};
constexpr int kAlign = 32;  // bytes: what a tile writes of an output row is whole sectors
constexpr int kGroup = 64;  // tiles below each other
// Of outputs whose rows start at boundaries, tiles read no more than they write.
constexpr Tuned kTunedAligned = {2.5, 0.83}, kTunedAnywhere = {2.5, 0.79};

template <class T>
struct Tile {
  static constexpr int kRows = Shape<T>::kRows, kCols = Shape<T>::kCols;
  // Output rows so many columns apart are aligned alike; and a tile reads fewer rows than this more
  // than it writes.
  static constexpr int kPeriod = kAlign / int(sizeof(T));
  static constexpr int kPitch = kCols / kPackSize<T> + 1;  // packs of a row that starts anywhere
  // Every P-th row is another pack further on: P rows apart are other banks.
  static constexpr int kPBytes = (kPackSize<T> * kPitch + 1) * kPackBytes;
  static constexpr int kBytes = (kRows + kPeriod) / kPackSize<T> * kPBytes;
  __device__ static constexpr int pack(int r, int j) { return r * kPitch + r / kPackSize<T> + j; }
};

// P elements to 16 bytes, four steps of a word each.
__device__ __forceinline__ uint32_t word_of(const uint32_t (&x)[1]) { return x[0]; }
__device__ __forceinline__ uint32_t word_of(const uint16_t (&x)[2]) {
  return __byte_perm(x[0], x[1], 0x5410);
}
__device__ __forceinline__ uint32_t word_of(const uint8_t (&x)[4]) {
  return __byte_perm(__byte_perm(x[0], x[1], 0x0040), __byte_perm(x[2], x[3], 0x0040), 0x5410);
}
// Word w to place (w + by) % 4.
__device__ __forceinline__ uint4 rotated(const uint32_t (&w)[4], int by) {
  const bool one = by & 1, two = by & 2;
  const uint32_t a = one ? w[3] : w[0], b = one ? w[0] : w[1], c = one ? w[1] : w[2],
                 d = one ? w[2] : w[3];
  return two ? make_uint4(c, d, a, b) : make_uint4(a, b, c, d);
}

// `halo`: the rows that tiles read beyond their own.
template <class T>
__global__ void __launch_bounds__(Shape<T>::kThreads)
    transpose_skewed(Args a, Tiling tiling, int halo) {
  using Tile = Tile<T>;
  constexpr int P = kPackSize<T>, kThreads = Shape<T>::kThreads, kSize = int(sizeof(T));
  extern __shared__ uint4 tile[];
  char* const bytes = reinterpret_cast<char*>(tile);
  const TileAt at = tile_at<kGroup>(tiling, blockIdx.x);
  const int64_t row0 = int64_t(at.down) * Tile::kRows, col0 = int64_t(at.across) * Tile::kCols;
  const T* const in = static_cast<const T*>(a.in) + at.batch * a.in_batch_stride;  // (rows, cols)
  const T* const corner = in + row0 * a.in_stride + col0;
  const auto shift_of_row = [&, from = uint32_t(reinterpret_cast<uintptr_t>(corner)),
                             step = uint32_t(a.in_stride) * kSize](int r) {
    return int((from + uint32_t(r) * step) % kPackBytes);
  };

  {
    const T* const end = in + (a.rows - 1) * a.in_stride + a.cols;
    const int rows = int(min(a.rows - row0, int64_t(Tile::kRows + halo)));
    const int width = int(min(a.cols - col0, int64_t(Tile::kCols))) * kSize;  // bytes
    const bool inside =
        row0 + col0 > 0 && (row0 + rows < a.rows || col0 + Tile::kCols + P <= a.cols);
    const auto is_whole = [&](const T* p) { return inside || (p >= in && p + P <= end); };
    const auto load = [&](const T* from, uint4& x) {
      if (is_whole(from)) x = *reinterpret_cast<const uint4*>(from);
    };
    const auto keep = [&](const T* from, const uint4& x, uint4* to) {
      if (is_whole(from)) {
        *to = x;
      } else {  // a pack that reaches outside the matrix
#pragma unroll 1
        for (int e = 0; e < P; ++e)
          if (from + e >= in && from + e < end) reinterpret_cast<T*>(to)[e] = from[e];
      }
    };
    // Rows whole packs of rows apart are shifted alike.
    constexpr int kAcross = Tile::kPitch - 1, kRowStep = kThreads / kAcross;
    constexpr int kPacks = (Tile::kRows + Tile::kPeriod + kRowStep - 1) / kRowStep;
    static_assert(kRowStep % P == 0);
    const int j = int(threadIdx.x) % kAcross, r0 = int(threadIdx.x) / kAcross;
    const int shift = shift_of_row(r0);
    const int64_t step = kRowStep * a.in_stride;
    const T* const first = corner + r0 * a.in_stride + (j * kPackBytes - shift) / kSize;
    const int mine = j * kPackBytes < shift + width ? rows - r0 : 0;
    // The pack more that a shifted row has, a thread a row.
    static_assert(Tile::kRows + Tile::kPeriod <= kThreads);
    const int row = int(threadIdx.x), by = shift_of_row(row);
    const T* const more = corner + row * a.in_stride + (kAcross * P - by / kSize);
    const bool has_more = row < rows && kAcross * kPackBytes < by + width;

    uint4 x[kPacks], y;
#pragma unroll
    for (int n = 0; n < kPacks; ++n)
      if (n * kRowStep < mine) load(first + n * step, x[n]);
    if (has_more) load(more, y);
    uint4* const to = tile + Tile::pack(r0, j);
#pragma unroll
    for (int n = 0; n < kPacks; ++n)
      if (n * kRowStep < mine) keep(first + n * step, x[n], to + Tile::pack(n * kRowStep, 0));
    if (has_more) keep(more, y, tile + Tile::pack(row, kAcross));
  }
  __syncthreads();

  T* const out = static_cast<T*>(a.out) + at.batch * a.out_batch_stride + row0;  // (cols, rows)
  const int rows = int(min(a.rows - row0, int64_t(Tile::kRows + Tile::kPeriod)));
  const int cols = int(min(a.cols - col0, int64_t(Tile::kCols)));
  const auto head_of = [&](int c) {  // elements before the output row's first boundary
    const auto address = uint32_t(reinterpret_cast<uintptr_t>(out + (col0 + c) * a.out_stride));
    return int(-address % kAlign) / kSize;
  };

  // The lanes of a warp: 8 packs side by side of 4 output rows, which are columns a word apart in
  // the tile. All of a thread's columns are whole periods apart, so its elements are always at the
  // same places.
  constexpr int kInWord = 4 / kSize, kWarps = kThreads / 32, kSets = Tile::kPeriod / 4;
  static_assert(kWarps % kSets == 0 && Tile::kRows % (8 * P) == 0);
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const int set = warp % kSets;
  const int c0 = warp / kSets * Tile::kPeriod + set / kInWord * (4 * kInWord) + set % kInWord +
                 lane / 8 * kInWord;
  const int head = head_of(c0);
  // Which word of its pack a lane starts with: the one whose rows are shifted as those of all other
  // lanes. Four columns are then four words of a pack, and 8 packs below each other 8 groups of
  // banks.
  const int first = -(head / kInWord) & 3;
  int place[P];
#pragma unroll
  for (int s = 0; s < P; ++s) {
    const int r = head + ((s / kInWord + first) & 3) * kInWord + s % kInWord;
    place[s] =
        lane % 8 * Tile::kPBytes + Tile::pack(r, 0) * kPackBytes + shift_of_row(r) + c0 * kSize;
  }
  constexpr int kStep = kWarps / kSets * Tile::kPeriod;
  const int e0 = head + lane % 8 * P;
  T* to = out + (col0 + c0) * a.out_stride + e0;
#pragma unroll
  for (int c = 0; c < Tile::kCols; c += kStep, to += kStep * a.out_stride) {
    if (c0 + c >= cols) break;
#pragma unroll
    for (int k = 0; k < Tile::kRows / P; k += 8) {
      if (e0 + (k + 1) * P > rows) break;
      uint32_t words[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        T x[kInWord];
#pragma unroll
        for (int i = 0; i < kInWord; ++i)
          x[i] = *reinterpret_cast<const T*>(bytes + place[w * kInWord + i] +
                                             (k * Tile::kPBytes + c * kSize));
        words[w] = word_of(x);
      }
      *reinterpret_cast<uint4*>(to + k * P) = rotated(words, first);
    }
  }

  // What is left at the ends of output rows, an element a thread.
  const auto put = [&](int r, int c) {
    out[(col0 + c) * a.out_stride + r] = *reinterpret_cast<const T*>(
        bytes + Tile::pack(r, 0) * kPackBytes + shift_of_row(r) + c * kSize);
  };
  if (at.down == 0)
#pragma unroll 1
    for (int i = int(threadIdx.x); i < Tile::kPeriod * Tile::kCols; i += kThreads) {
      const int r = i / Tile::kCols, c = i % Tile::kCols;
      if (c < cols && r < min(head_of(c), rows)) put(r, c);
    }
  if (rows < Tile::kRows + Tile::kPeriod)  // they end here
#pragma unroll 1
    for (int i = int(threadIdx.x); i < P * Tile::kCols; i += kThreads) {
      const int r = rows - 1 - i / Tile::kCols, c = i % Tile::kCols;
      const int from = head_of(c);
      if (c < cols && r >= from + (rows - from) / P * P && r >= from && r < from + Tile::kRows)
        put(r, c);
    }
}

static Support supports(const Args& a, const DeviceInfo&) { return moves(a); }
static bool has_aligned_output(const Args& a) {
  const auto whole = [&](int64_t elements) {
    return elements * int64_t(size_of(a.dtype)) % kAlign == 0;
  };
  return reinterpret_cast<uintptr_t>(a.out) % kAlign == 0 && whole(a.out_stride) &&
         (a.batch == 1 || whole(a.out_batch_stride));
}
template <class T>
static Status launch_as(const Args& a, cudaStream_t stream) {
  const Tiling tiling = tiling_of(a, Tile<T>::kRows, Tile<T>::kCols);
  const auto kernel = transpose_skewed<T>;
  if (Tile<T>::kBytes > 48 * 1024)
    (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               Tile<T>::kBytes);
  kernel<<<tiling.tiles, Shape<T>::kThreads, Tile<T>::kBytes, stream>>>(
      a, tiling, has_aligned_output(a) ? 0 : Tile<T>::kPeriod - 1);
  return launch_status();
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (elements(a) == 0) return Status::ok();
  return with_raw_type(a.dtype, [&](auto t) { return launch_as<decltype(t)>(a, stream); });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return with_raw_type(a.dtype, [&](auto t) {  // a tile costs the same where it hangs over
    using T = decltype(t);
    const double tiles = tiling_of(a, Tile<T>::kRows, Tile<T>::kCols).tiles;
    return streaming_us(has_aligned_output(a) ? kTunedAligned : kTunedAnywhere,
                        tiles * Tile<T>::kRows * Tile<T>::kCols * sizeof(T) * 2, device);
  });
}
constinit const Rung rung = {.idea = "any alignment: packs as they lie, gathered from shared",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::transpose::skewed
