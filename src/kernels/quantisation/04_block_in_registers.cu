// quantisation rung 04, block_in_registers: the threads of a block hold a whole row, or a square of
// 128 x 128, until its maximum is known.
//
// Since 03_vectors: warps tell each other their maxima through shared memory, so a row of 32768
//   two-byte numbers or a square is read once. Rows that are wider are read again, from the L2
//   cache if that holds them. Columns: each lane keeps to one pack of columns and
//   walks down the rows; the second walk begins where the first one ended.
// Stops at: one barrier between the loads and the stores of a block: other blocks have to be under
//   way meanwhile. Columns are read twice.
// Not for: blocks that fit a warp (03), which needs no barrier.
#include "kernels/quantisation/held.cuh"
#include "select/select.h"

namespace ridge::quantisation::block_in_registers {

constexpr int kWarps = 8;
constexpr int kThreads = kWarps * kWarpSize;
constexpr int kRowsDown = 256;         // of a thread block that walks down columns
constexpr int kUnder = 8;              // rows of a warp under way
constexpr Tuned kTuned = {4.0, 0.80};  // not measured yet: what the model says

// Columns: each lane has a pack of them, and each warp every eighth row.
template <class T>
struct Columns {
  int64_t c, width, first, end;
  __device__ __forceinline__ Columns(const Args& a, int64_t across, int64_t down)
      : c((across * kWarpSize + threadIdx.x % kWarpSize) * kPackSize<T>),
        width(max(min(a.cols - c, int64_t(kPackSize<T>)), int64_t(0))),
        first(down * kRowsDown + threadIdx.x / kWarpSize),
        end(min(a.rows, (down + 1) * kRowsDown)) {}
  // Calls f(row, pack) for all rows, with the loads of kUnder rows together.
  template <class F>
  __device__ __forceinline__ void each(const Args& a, F f) const {
    for (int64_t from = first; from < end; from += kUnder * kWarps) {
      Pack<T> raw[kUnder];
#pragma unroll
      for (int k = 0; k < kUnder; ++k) {
        const int64_t r = from + k * kWarps;
        raw[k] = load_part(static_cast<const T*>(a.x) + r * a.x_stride, c, r < end ? width : 0);
      }
#pragma unroll
      for (int k = 0; k < kUnder; ++k) f(from + k * kWarps, raw[k]);
    }
  }
};
template <class T>
__global__ void __launch_bounds__(kThreads) column_maxima(Args a, Maxima m) {
  constexpr int kSize = kPackSize<T>, kAcross = kSize * kWarpSize;
  __shared__ uint32_t of_warps[kWarps][kAcross];
  const Columns<T> mine(a, blockIdx.x, blockIdx.y);
  uint32_t bits[kSize] = {};
  mine.each(a, [&](int64_t, const Pack<T>& pack) {
    float numbers[kSize];
    to_floats(pack, numbers);
#pragma unroll
    for (int i = 0; i < kSize; ++i) bits[i] = max(bits[i], magnitude_bits(numbers[i]));
  });
  const int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
#pragma unroll
  for (int i = 0; i < kSize; ++i) of_warps[warp][i * kWarpSize + lane] = bits[i];
  __syncthreads();
  if (threadIdx.x >= kAcross) return;
  uint32_t most = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) most = max(most, of_warps[w][threadIdx.x]);
  const int64_t c = (int64_t(blockIdx.x) * kWarpSize + lane) * kSize + warp;
  if (c < a.cols) atomicMax(m.blocks + c, most);
}
template <class T, class Codec>
__global__ void __launch_bounds__(kThreads) quantise_columns(Args a, Maxima m) {
  constexpr int kSize = kPackSize<T>;
  const Codec codec;
  // Backwards: what column_maxima read last is still in the L2 cache.
  const Columns<T> mine(a, gridDim.x - 1 - blockIdx.x, gridDim.y - 1 - blockIdx.y);
  Divisor by[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    const float amax = i < mine.width ? amax_of(m.blocks[mine.c + i]) : 0;
    const float scale = ratio_scale<Codec::kElement>(amax);
    if (i < mine.width && mine.first == 0) static_cast<float*>(a.scales)[mine.c + i] = scale;
    by[i] = Divisor(scale);
  }
  mine.each(a, [&](int64_t r, const Pack<T>& pack) {
    float numbers[kSize];
    to_floats(pack, numbers);
#pragma unroll
    for (int i = 0; i < kSize; ++i)
      numbers[i] = by[i].divides() ? by[i].quotient(numbers[i] * by[i].lift) : 0;
    store_codes<Codec::kElement, kSize>(a, r * a.cols + mine.c, r < mine.end ? mine.width : 0,
                                        codec.encoded(numbers));
  });
}

static Support supports(const Args& a, const DeviceInfo&) {
  const Support held = held::supports(a);
  if (!held || !a.blocks.are_columns) return held;
  return a.rows <= int64_t(kRowsDown) * 65535 ? kSupported : "walks down up to 16 million rows";
}

template <class T, class Codec>
static Status launch_columns(const Args& a, cudaStream_t stream) {
  if (const Status s = clear_maxima(a, true, stream); !s) return s;
  constexpr int64_t kAcross = int64_t(kWarpSize) * kPackSize<T>;
  const dim3 grid(unsigned((a.cols + kAcross - 1) / kAcross),
                  unsigned((a.rows + kRowsDown - 1) / kRowsDown));
  column_maxima<T><<<grid, kThreads, 0, stream>>>(a, maxima_in(a));
  quantise_columns<T, Codec><<<grid, kThreads, 0, stream>>>(a, maxima_in(a));
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
