// transpose rung 07, words: any size, stride and alignment, four bytes at a time.
//
// Since 05_vectors: rows that start anywhere cannot move 16 bytes at a time. Four bytes of small
//   elements only need a shift: a word of a row is put together from two aligned words, P x P
//   elements are turned in registers (P = 4 / size), and a word of an output row is shifted
//   together from two words of the tile. Each output row starts at its own multiple of 32 bytes, so
//   a tile reads 8 words of rows more than it writes, and no two tiles write to the same sector.
// Stops at: instructions, several per word; HBM for 4-byte elements.
// Not for: elements of four bytes and more, and rows at their boundaries (05). 08 moves four times
//   as many bytes per instruction.
#include "kernels/transpose/tiles.cuh"

namespace ridge::transpose::words {

// Words in a tile: across along the input's rows, down along the output's; and how many a thread
// has under way.
template <class T>
struct Shape;
template <>
struct Shape<uint32_t> {
  static constexpr int kAcross = 64, kDown = 64, kBatch = 6;  // 64 x 64 elements
};
template <>
struct Shape<uint16_t> {
  static constexpr int kAcross = 32, kDown = 64, kBatch = 3;  // 128 x 64
};
template <>
struct Shape<uint8_t> {
  static constexpr int kAcross = 32, kDown = 64, kBatch = 1;  // 256 x 128
};
constexpr int kSector = 32, kMore = kSector / 4;  // words that a tile reads more than it writes
template <class T>
constexpr int kInWord = 4 / int(sizeof(T));
template <class T>
constexpr int kRows = Shape<T>::kDown* kInWord<T>;
template <class T>
constexpr int kCols = Shape<T>::kAcross* kInWord<T>;
constexpr int kThreads = 256;
constexpr int kGroup = 64;  // tiles below each other

__device__ __forceinline__ void turn(uint32_t (&)[1]) {}
__device__ __forceinline__ void turn(uint32_t (&x)[2]) {
  const uint32_t a = x[0], b = x[1];
  x[0] = __byte_perm(a, b, 0x5410);
  x[1] = __byte_perm(a, b, 0x7632);
}
__device__ __forceinline__ void turn(uint32_t (&x)[4]) {
  const uint32_t ab_low = __byte_perm(x[0], x[1], 0x5140),
                 ab_high = __byte_perm(x[0], x[1], 0x7362);
  const uint32_t cd_low = __byte_perm(x[2], x[3], 0x5140),
                 cd_high = __byte_perm(x[2], x[3], 0x7362);
  x[0] = __byte_perm(ab_low, cd_low, 0x5410);
  x[1] = __byte_perm(ab_low, cd_low, 0x7632);
  x[2] = __byte_perm(ab_high, cd_high, 0x5410);
  x[3] = __byte_perm(ab_high, cd_high, 0x7632);
}

__device__ __forceinline__ uint32_t bytes_past_word(const void* p) {
  return uint32_t(reinterpret_cast<uintptr_t>(p)) & 3;
}

template <class T>
__device__ __forceinline__ uint32_t gather_word(const T* p, int count) {
  uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < kInWord<T>; ++i)
    if (i < count) word |= uint32_t(p[i]) << (8 * sizeof(T) * i);
  return word;
}

template <class T>
__global__ void __launch_bounds__(kThreads) transpose_words(Args a, Tiling tiling) {
  constexpr int P = kInWord<T>, kAcross = Shape<T>::kAcross, kDown = Shape<T>::kDown;
  constexpr int kBatch = Shape<T>::kBatch, kStep = kThreads / kAcross;
  static_assert((kDown + kMore) % (kStep * kBatch) == 0);
  // Word d of output row across * P + i is at [i * kAcross + across][d]; an odd pitch keeps the
  // writers, a lane each `across`, in different banks.
  __shared__ uint32_t turned[P * kAcross][kDown + kMore + 1];
  const TileAt at = tile_at<kGroup>(tiling, blockIdx.x);
  const int64_t row0 = int64_t(at.down) * kRows<T>, col0 = int64_t(at.across) * kCols<T>;

  {
    const int across = int(threadIdx.x) % kAcross, first = int(threadIdx.x) / kAcross;
    const int64_t c = col0 + across * P;
    const int cols = int(min(max(a.cols - c, int64_t(0)), int64_t(P)));  // of this word
    const T* const column =
        static_cast<const T*>(a.in) + at.batch * a.in_batch_stride + row0 * a.in_stride + c;
    // Both words it is put together from are inside the tensor.
    const bool whole = P == 1 ? cols == 1
                              : c + 2 * P <= a.cols && (c > 0 || row0 > 0 || at.batch > 0 ||
                                                        bytes_past_word(a.in) == 0);
    const int rows = int(min(a.rows - row0, int64_t(kRows<T> + kMore * P)));
#pragma unroll 1
    for (int d0 = first; d0 < kDown + kMore; d0 += kStep * kBatch) {
      uint32_t low[kBatch][P], high[kBatch][P];
#pragma unroll
      for (int b = 0; b < kBatch; ++b)
#pragma unroll
        for (int i = 0; i < P; ++i) {
          const int r = (d0 + b * kStep) * P + i;
          const T* const p = column + r * a.in_stride;
          const auto word = reinterpret_cast<const uint32_t*>(reinterpret_cast<uintptr_t>(p) & ~3);
          low[b][i] = high[b][i] = 0;
          if (whole && r < rows) {
            low[b][i] = word[0];
            if (P > 1 && bytes_past_word(p) != 0) high[b][i] = word[1];
          }
        }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
#pragma unroll
        for (int i = 0; i < P; ++i) {
          const int r = (d0 + b * kStep) * P + i;
          const T* const p = column + r * a.in_stride;
          if (P > 1) low[b][i] = __funnelshift_r(low[b][i], high[b][i], 8 * bytes_past_word(p));
          if (!whole && r < rows) low[b][i] = gather_word(p, cols);
        }
        turn(low[b]);
#pragma unroll
        for (int i = 0; i < P; ++i) turned[i * kAcross + across][d0 + b * kStep] = low[b][i];
      }
    }
  }
  __syncthreads();

  const int lane = int(threadIdx.x) % 32;  // of the warp that writes an output row
  T* const out = static_cast<T*>(a.out) + at.batch * a.out_batch_stride + row0;  // (cols, rows)
  const int64_t rows = a.rows - row0;
#pragma unroll 4
  for (int c = int(threadIdx.x) / 32; c < kCols<T>; c += kThreads / 32) {
    if (col0 + c >= a.cols) break;
    T* const row = out + (col0 + c) * a.out_stride;
    const uint32_t head_bytes = uint32_t(-reinterpret_cast<uintptr_t>(row)) % kSector;
    const int head = int(head_bytes / sizeof(T));
    const uint32_t* const of_row = turned[c % P * kAcross + c / P];
    const uint32_t* const words = of_row + head_bytes / 4;
#pragma unroll
    for (int k0 = 0; k0 < kDown; k0 += 32) {
      const int k = k0 + lane;
      const int64_t e = head + k * P;
      const uint32_t word =
          P == 1 ? words[k] : __funnelshift_r(words[k], words[k + 1], head_bytes % 4 * 8);
      if (e + P <= rows) {
        *reinterpret_cast<uint32_t*>(row + e) = word;
      } else {
#pragma unroll
        for (int i = 0; i < P; ++i)
          if (e + i < rows) row[e + i] = T(word >> (8 * sizeof(T) * i));
      }
    }
    if (at.down == 0 && lane < head && lane < rows)
      row[lane] = T(of_row[lane / P] >> (8 * sizeof(T) * (lane % P)));
  }
}

static Support supports(const Args& a, const DeviceInfo&) { return moves(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (elements(a) == 0) return Status::ok();
  return with_raw_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const Tiling tiling = tiling_of(a, kRows<T>, kCols<T>);
    transpose_words<T><<<tiling.tiles, kThreads, 0, stream>>>(a, tiling);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "any alignment: words, shifted in and out",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::transpose::words
