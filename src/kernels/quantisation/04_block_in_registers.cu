// quantisation rung 04, block_in_registers: the threads of a block hold a whole row, or a square of
// 128 x 128, until its maximum is known.
//
// Since 03_vectors: warps tell each other their maxima through shared memory, so a row of 32768
//   two-byte numbers or a square is read once. Rows that are wider are read again, from the L2
//   cache if that holds them. Columns: a thread keeps to one pack of columns and walks down the
//   rows.
// Stops at: one barrier between the loads and the stores of a block: other blocks have to be under
//   way meanwhile. Columns are read twice.
// Not for: blocks that fit a warp (03), which needs no barrier.
#include "kernels/quantisation/packs.cuh"
#include "select/select.h"

namespace ridge::quantisation::block_in_registers {

constexpr int kMostThreads = 512;
constexpr int kPacks = 8;              // of a thread
constexpr int kRowsDown = 64;          // of a thread that walks down columns
constexpr Tuned kTuned = {4.0, 0.80};  // not measured yet: as row_in_registers of layer_norm

// Packs of a rectangle, row by row.
template <class T>
struct Rectangle {
  int64_t first_row, first_col, rows, cols;
  __device__ __forceinline__ Rectangle(const Args& a, int64_t block)
      : first_row(block / a.blocks.across * a.blocks.block_rows),
        first_col(block % a.blocks.across * a.blocks.block_cols),
        rows(min(a.blocks.block_rows, a.rows - first_row)),
        cols(min(a.blocks.block_cols, a.cols - first_col)) {}
  __device__ __forceinline__ packs::Place place(const Divider& per_row, int64_t pack) const {
    const int64_t r = per_row.quotient(pack);
    const int64_t c = (pack - r * per_row.divisor()) * kPackSize<T>;
    const int64_t left = r < rows ? cols - c : 0;
    return {first_row + r, first_col + c, max(min(left, int64_t(kPackSize<T>)), int64_t(0))};
  }
};

template <class T, class Codec>
__global__ void __launch_bounds__(kMostThreads) quantise_held(Args a, Divider per_row, int packs) {
  __shared__ uint32_t of_warps[kMostThreads / kWarpSize];
  const Codec codec;
  const T* const x = static_cast<const T*>(a.x);
  const Rectangle<T> block(a, blockIdx.x);
  const int threads = int(blockDim.x), turn = threads * kPacks;
  Pack<T> raw[kPacks];
  float numbers[kPackSize<T>];
  const auto load = [&](int first) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const packs::Place at = block.place(per_row, first + p * threads);
      raw[p] = load_part(x + at.r * a.x_stride, at.c, at.width);
    }
  };
  uint32_t bits = 0;
  for (int first = threadIdx.x; first < packs; first += turn) {
    load(first);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) bits = max(bits, pack_max_bits(raw[p]));
  }
  bits = lanes_max_bits(bits, kWarpSize);
  const int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (lane == 0) of_warps[warp] = bits;
  __syncthreads();
  bits = lanes_max_bits(lane < threads / kWarpSize ? of_warps[lane] : 0, kWarpSize);
  const float scale = make_scale(a, blockIdx.x, amax_of(bits), 0, threadIdx.x == 0);
  for (int first = threadIdx.x; first < packs; first += turn) {
    if (packs > turn) load(first);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const packs::Place at = block.place(per_row, first + p * threads);
      to_floats(raw[p], numbers);
      const auto word = divided(codec, a, scale, numbers);
      store_codes<Codec::kElement, kPackSize<T>>(a, at.r * a.cols + at.c, at.width, word);
    }
  }
}

// Columns: thread (x, y) has a pack of columns and kRowsDown rows.
template <class T>
__global__ void __launch_bounds__(kWarpSize) column_maxima(Args a, Maxima m) {
  constexpr int kSize = kPackSize<T>;
  const int64_t c = (int64_t(blockIdx.x) * kWarpSize + threadIdx.x) * kSize;
  const int64_t width = max(min(a.cols - c, int64_t(kSize)), int64_t(0));
  const int64_t first = int64_t(blockIdx.y) * kRowsDown, end = min(a.rows, first + kRowsDown);
  uint32_t bits[kSize] = {};
#pragma unroll 4
  for (int64_t r = first; r < end; ++r) {
    float numbers[kSize];
    to_floats(load_part(static_cast<const T*>(a.x) + r * a.x_stride, c, width), numbers);
#pragma unroll
    for (int i = 0; i < kSize; ++i) bits[i] = max(bits[i], magnitude_bits(numbers[i]));
  }
#pragma unroll
  for (int i = 0; i < kSize; ++i)
    if (i < width) atomicMax(m.blocks + c + i, bits[i]);
}
template <class T, class Codec>
__global__ void __launch_bounds__(kWarpSize) quantise_columns(Args a, Maxima m) {
  constexpr int kSize = kPackSize<T>;
  const Codec codec;
  const int64_t c = (int64_t(blockIdx.x) * kWarpSize + threadIdx.x) * kSize;
  const int64_t width = max(min(a.cols - c, int64_t(kSize)), int64_t(0));
  const int64_t first = int64_t(blockIdx.y) * kRowsDown, end = min(a.rows, first + kRowsDown);
  float scale[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i)
    scale[i] = i < width ? make_scale(a, c + i, amax_of(m.blocks[c + i]), 0, first == 0) : 0;
#pragma unroll 4
  for (int64_t r = first; r < end; ++r) {
    float numbers[kSize];
    to_floats(load_part(static_cast<const T*>(a.x) + r * a.x_stride, c, width), numbers);
#pragma unroll
    for (int i = 0; i < kSize; ++i) numbers[i] = is_divisor(scale[i]) ? numbers[i] / scale[i] : 0;
    store_codes<Codec::kElement, kSize>(a, r * a.cols + c, width, codec.encoded(numbers));
  }
}

static bool is_of_columns(const Args& a) { return a.blocks.block_cols == 1 && !a.is_whole; }
static Support supports(const Args& a, const DeviceInfo&) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (a.back || a.is_whole || a.rule != Rule::ratio || is_packed(a.element))
    return "quantises rows, columns and squares to 8 bits";
  if (is_of_columns(a))
    return a.rows <= int64_t(kRowsDown) * 65535 ? kSupported : "walks down up to 4 million rows";
  if (a.blocks.block_cols > int64_t(1) << 30) return "counts columns up to 2^30";
  return a.blocks.count < int64_t(1) << 31 ? kSupported : "counts blocks up to 2^31";
}

template <class T, class Codec>
static Status launch_held(const Args& a, cudaStream_t stream) {
  const int64_t per_row = (std::min(a.blocks.block_cols, a.cols) + kPackSize<T> - 1) / kPackSize<T>;
  const int64_t packs = per_row * std::min(a.blocks.block_rows, a.rows);
  int threads = kWarpSize;
  while (threads < kMostThreads && packs > threads * kPacks / 2) threads *= 2;
  const Divider divider(per_row, packs + int64_t(kMostThreads) * kPacks);
  quantise_held<T, Codec><<<unsigned(a.blocks.count), threads, 0, stream>>>(a, divider, int(packs));
  return launch_status();
}
template <class T, class Codec>
static Status launch_columns(const Args& a, cudaStream_t stream) {
  if (const Status s = clear_maxima(a, true, stream); !s) return s;
  constexpr int64_t kAcross = int64_t(kWarpSize) * kPackSize<T>;
  const dim3 grid(unsigned((a.cols + kAcross - 1) / kAcross),
                  unsigned((a.rows + kRowsDown - 1) / kRowsDown));
  column_maxima<T><<<grid, kWarpSize, 0, stream>>>(a, maxima_in(a));
  quantise_columns<T, Codec><<<grid, kWarpSize, 0, stream>>>(a, maxima_in(a));
  return launch_status();
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return launch_empty(a, stream);
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    if (is_of_columns(a)) return launch_columns<T, Direct<Dtype::i8>>(a, stream);
    if (a.element == Dtype::i8) return launch_held<T, Direct<Dtype::i8>>(a, stream);
    if (a.element == Dtype::e4m3) return launch_held<T, Direct<Dtype::e4m3>>(a, stream);
    return launch_held<T, Direct<Dtype::e5m2>>(a, stream);
  });
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return is_of_columns(a) ? maxima_bytes(a, true) : 0;
}
static double cost(const Args& a, const DeviceInfo& device) {
  const int64_t packs = a.blocks.block_cols / packs::pack_size_of(a) * a.blocks.block_rows;
  const bool twice = is_of_columns(a) || packs > kMostThreads * kPacks;
  const double again = twice ? double(a.rows) * double(a.cols) * double(size_of(a.dtype)) : 0;
  return streaming_us(kTuned, bytes(a) + again, device);
}
constinit const Rung rung = {.idea = "a row or a square stays in the registers of a block",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::quantisation::block_in_registers
