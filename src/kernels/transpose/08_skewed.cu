// transpose rung 08, skewed: any size, stride and alignment, 16 bytes at a time.
//
// Since 07_words: rows that start anywhere have aligned packs of 16 bytes too, at other columns. A
//   tile keeps the packs of its rows as they lie in memory, and a thread that looks for an element
//   adds the shift of its row. On the way out, each pack of an output row is gathered from shared
//   memory, element by element. Each access to global memory moves 16 bytes per lane, four times as
//   much as in 07. A thread has all its packs under way at once, in registers; cp.async, which
//   needs none, took 6 % longer on an H200.
// Stops at: HBM; for elements of 1 byte, at the instructions that read shared memory.
// Not for: small matrices. Its large tiles leave most SMs idle.
//
// Where things are. Row r of a tile starts shift(r) bytes behind a boundary. The tile has the packs
// from that boundary on, so element (r, c) is at byte  pack(r, 0) * 16 + shift(r) + c * size. For
// elements of 4 bytes and a shift of 8:
//
//                      boundary       boundary       boundary
//   global memory      |  .  .  0  1  |  2  3  4  5  |  6  7  …     columns of row r
//   shared memory      pack(r, 0)     pack(r, 1)     pack(r, 2)
//
// Output row c is column c of the input. What a tile writes of it starts at the first multiple of
// 32 bytes, head(c) elements behind the tile's first row, and has kRows elements: whole sectors,
// which no other tile writes. So a tile reads up to kPeriod - 1 rows more than it writes (the
// halo), and the first tile of an output row also writes the elements before.
#include "device/from_detail.cuh"
#include "kernels/transpose/tiles.cuh"
#include "select/select.h"

namespace ridge::transpose::skewed {

// Elements of a tile. What it writes of an output row is whole lines of 128 bytes.
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
  // Output rows so many columns apart are aligned alike, and have the same head.
  static constexpr int kPeriod = kAlign / int(sizeof(T));
  static constexpr int kPitch = kCols / kPackSize<T> + 1;  // packs of a row that starts anywhere
  // There is an unused pack after every P rows (P elements are a pack), so that rows P apart are in
  // different banks.
  static constexpr int kPBytes = (kPackSize<T> * kPitch + 1) * kPackBytes;
  static constexpr int kBytes = (kRows + kPeriod) / kPackSize<T> * kPBytes;
  __device__ static constexpr int pack(int r, int j) { return r * kPitch + r / kPackSize<T> + j; }
};

// The shift of each row of a tile, in bytes.
struct Shifts {
  uint32_t first, step;
  __device__ __forceinline__ int operator()(int r) const {
    return int((first + uint32_t(r) * step) % kPackBytes);
  }
};

// What a tile writes, and where: `out` is the tile's first element of output row 0.
template <class T>
struct Output {
  T* out;  // (cols, rows) from row0 on
  int64_t stride, col0;
  int rows, cols;  // of the tile, with the halo

  __device__ __forceinline__ T* row(int c) const { return out + (col0 + c) * stride; }
  // Elements before the first boundary of output row c.
  __device__ __forceinline__ int head(int c) const {
    const auto address = uint32_t(reinterpret_cast<uintptr_t>(row(c)));
    return int(-address % kAlign) / int(sizeof(T));
  }
};

// One word of 1, 2 or 4 elements.
__device__ __forceinline__ uint32_t word_of(const uint32_t (&x)[1]) { return x[0]; }
__device__ __forceinline__ uint32_t word_of(const uint16_t (&x)[2]) {
  return __byte_perm(x[0], x[1], 0x5410);
}
__device__ __forceinline__ uint32_t word_of(const uint8_t (&x)[4]) {
  return __byte_perm(__byte_perm(x[0], x[1], 0x0040), __byte_perm(x[2], x[3], 0x0040), 0x5410);
}
// A pack of four words, word w at place (w + by) % 4.
__device__ __forceinline__ uint4 rotated(const uint32_t (&w)[4], int by) {
  const bool one = by & 1, two = by & 2;
  const uint32_t a = one ? w[3] : w[0], b = one ? w[0] : w[1], c = one ? w[1] : w[2],
                 d = one ? w[2] : w[3];
  return two ? make_uint4(c, d, a, b) : make_uint4(a, b, c, d);
}

// From shared to global memory: the packs of output rows.
//
// The lanes of a warp gather 8 packs side by side of each of 4 output rows, whose columns in the
// tile are a word apart. All columns of a thread are whole periods apart, so they have the same
// head, and the elements of a pack are always at the same places.
//
// In each step all lanes read one word. A lane starts with the word of its pack whose rows are
// shifted as those of all other lanes: the four columns then are four words of one pack, and the
// 8 packs below each other are 8 groups of banks, so no two lanes meet in a bank. At the end the
// words of the pack are rotated to their places.
template <class T>
__device__ __forceinline__ void store_packs(const Output<T>& out, const Shifts& shift_of_row,
                                            const char* bytes) {
  using Tile = Tile<T>;
  constexpr int P = kPackSize<T>, kThreads = Shape<T>::kThreads, kSize = int(sizeof(T));
  constexpr int kInWord = 4 / kSize, kWarps = kThreads / 32, kSets = Tile::kPeriod / 4;
  static_assert(kWarps % kSets == 0 && Tile::kRows % (8 * P) == 0);
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const int set = warp % kSets;
  const int c0 = warp / kSets * Tile::kPeriod + set / kInWord * (4 * kInWord) + set % kInWord +
                 lane / 8 * kInWord;
  const int head = out.head(c0);
  const int first = -(head / kInWord) & 3;  // word of a pack
  int place[P];                             // in the tile, of each element in the order of reading
#pragma unroll
  for (int s = 0; s < P; ++s) {
    const int r = head + ((s / kInWord + first) & 3) * kInWord + s % kInWord;
    place[s] =
        lane % 8 * Tile::kPBytes + Tile::pack(r, 0) * kPackBytes + shift_of_row(r) + c0 * kSize;
  }
  constexpr int kStep = kWarps / kSets * Tile::kPeriod;
  const int e0 = head + lane % 8 * P;
  T* to = out.row(c0) + e0;
#pragma unroll
  for (int c = 0; c < Tile::kCols; c += kStep, to += kStep * out.stride) {
    if (c0 + c >= out.cols) break;
#pragma unroll
    for (int k = 0; k < Tile::kRows / P; k += 8) {
      if (e0 + (k + 1) * P > out.rows) break;
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
}

// What is left at both ends of output rows, one element per thread.
template <class T>
__device__ __forceinline__ void store_ends(const Output<T>& out, bool starts_rows,
                                           const Shifts& shift_of_row, const char* bytes) {
  using Tile = Tile<T>;
  constexpr int P = kPackSize<T>, kThreads = Shape<T>::kThreads, kSize = int(sizeof(T));
  const auto put = [&](int r, int c) {
    out.row(c)[r] = *reinterpret_cast<const T*>(bytes + Tile::pack(r, 0) * kPackBytes +
                                                shift_of_row(r) + c * kSize);
  };
  if (starts_rows)
#pragma unroll 1
    for (int i = int(threadIdx.x); i < Tile::kPeriod * Tile::kCols; i += kThreads) {
      const int r = i / Tile::kCols, c = i % Tile::kCols;
      if (c < out.cols && r < min(out.head(c), out.rows)) put(r, c);
    }
  if (out.rows < Tile::kRows + Tile::kPeriod)  // they end here
#pragma unroll 1
    for (int i = int(threadIdx.x); i < P * Tile::kCols; i += kThreads) {
      const int r = out.rows - 1 - i / Tile::kCols, c = i % Tile::kCols;
      const int from = out.head(c);
      if (c < out.cols && r >= from + (out.rows - from) / P * P && r >= from &&
          r < from + Tile::kRows)
        put(r, c);
    }
}

// halo: the rows that tiles read beyond their own.
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
  const Shifts shift_of_row = {uint32_t(reinterpret_cast<uintptr_t>(corner)),
                               uint32_t(a.in_stride) * kSize};

  // From global to shared memory, pack by pack.
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
    // A thread has pack j of every kRowStep-th row. Rows a multiple of P apart have the same shift.
    constexpr int kAcross = Tile::kPitch - 1, kRowStep = kThreads / kAcross;
    constexpr int kPacks = (Tile::kRows + Tile::kPeriod + kRowStep - 1) / kRowStep;
    static_assert(kRowStep % P == 0);
    const int j = int(threadIdx.x) % kAcross, r0 = int(threadIdx.x) / kAcross;
    const int shift = shift_of_row(r0);
    const int64_t step = kRowStep * a.in_stride;
    const T* const first = corner + r0 * a.in_stride + (j * kPackBytes - shift) / kSize;
    const int mine = j * kPackBytes < shift + width ? rows - r0 : 0;
    // A shifted row has one pack more at its end: one thread per row loads it.
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

  const Output<T> out = {static_cast<T*>(a.out) + at.batch * a.out_batch_stride + row0,
                         a.out_stride, col0,
                         int(min(a.rows - row0, int64_t(Tile::kRows + Tile::kPeriod))),
                         int(min(a.cols - col0, int64_t(Tile::kCols)))};
  store_packs(out, shift_of_row, bytes);
  store_ends(out, at.down == 0, shift_of_row, bytes);
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
