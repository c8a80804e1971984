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
#include "kernels/quantisation/held.cuh"
#include "select/select.h"

namespace ridge::quantisation::block_in_registers {

constexpr int kRowsDown = 64;          // of a thread that walks down columns
constexpr Tuned kTuned = {4.0, 0.80};  // not measured yet: as row_in_registers of layer_norm

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

static Support supports(const Args& a, const DeviceInfo&) {
  const Support held = held::supports(a);
  if (!held || !a.blocks.are_columns) return held;
  return a.rows <= int64_t(kRowsDown) * 65535 ? kSupported : "walks down up to 4 million rows";
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
    if (a.blocks.are_columns) return launch_columns<T, Direct<Dtype::i8>>(a, stream);
    if (a.element == Dtype::i8) return held::launch_quantise<T, Direct<Dtype::i8>>(a, stream);
    if (a.element == Dtype::e4m3) return held::launch_quantise<T, Direct<Dtype::e4m3>>(a, stream);
    return held::launch_quantise<T, Direct<Dtype::e5m2>>(a, stream);
  });
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return a.blocks.are_columns ? maxima_bytes(a, true) : 0;
}
static double cost(const Args& a, const DeviceInfo& device) {
  const bool twice = a.blocks.are_columns || held::is_too_wide(a);
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
