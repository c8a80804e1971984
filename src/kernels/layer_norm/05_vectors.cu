// layer_norm rung 05, vectors: each load brings 16 bytes, and four loads are under way.
//
// Since 04_warp_shuffle: 64 bytes per lane are under way instead of 4 (or 2), and a block of 256
//   threads works on a row, so that wide rows have as much under way as narrow ones. A thread takes
//   the mean of its four packs and the distances from it, and merges that with what it has: one
//   division for 16 numbers or more, not for each.
// Stops at: the second read, which misses L2 once the rows under way are larger than the L2.
// Not for: rows that fit into the registers of a block: one read is enough there (06). This rung is
//   for rows too wide for any memory on the chip.
#include "kernels/layer_norm/column_sums.cuh"
#include "kernels/layer_norm/held.cuh"
#include "select/held_rows.h"

namespace ridge::layer_norm::vectors {

constexpr int kThreads = 512;
constexpr int kPacks = 4;
constexpr Tuned kTuned = {4.0,
                          0.80};  // as measured for softmax, which is read twice in the same way

template <class T, bool Added>
__global__ void __launch_bounds__(kThreads) layer_norm_vectors(Args a) {
  __shared__ float4 partials[kWarpSize];
  const Rows<T> row(a, blockIdx.x);
  const RowSlots<T> slots = slots_of<Added>(row, int(a.cols));
  constexpr int kTurn = kThreads * kPacks;
  Pack<T> held[kPacks];
  Moments mine;
  for (int first = threadIdx.x; first < slots.slots; first += kTurn) {
    load_first<Added>(held, row, slots, first, kThreads);
    mine = merged(mine, row_norm::held_moments(held, slots, first, kThreads, 1, a.centred));
  }
  const Moments warp = lanes_merge(mine, lanes_sum(mine.count, kWarpSize), kWarpSize);
  const row_norm::Statistics by(warps_merge(warp, float(a.cols), partials), a.epsilon);
  for (int first = threadIdx.x; first < slots.slots; first += kTurn) {
    load_row(held, Added ? row.sum : row.x, slots, first, kThreads, T(0.0f));
    store_normalised<Added>(held, row, slots, first, kThreads, by);
  }
  if (threadIdx.x == 0) put_statistics(a, blockIdx.x, by.mean, by.rstd);
}

// A thread's packs of the gradients of a row.
template <class T, int Packs>
struct HeldGradients {
  Pack<T> x[Packs], dy[Packs], gamma[Packs];

  __device__ __forceinline__ void load(const Gradients<T>& row, const RowSlots<T>& slots, int first,
                                       int lanes) {
    load_row(x, row.x, slots, first, lanes, T(0.0f));
    load_row(dy, row.dy, slots, first, lanes, T(0.0f));
    if (row.gamma) load_row(gamma, row.gamma, slots, first, lanes, T(0.0f));
  }
  __device__ __forceinline__ void of_pack(const Gradients<T>& row, int p, float (&g)[kPackSize<T>],
                                          float (&n)[kPackSize<T>]) const {
    float weight[kPackSize<T>];
    to_floats(x[p], n);
    to_floats(dy[p], g);
    to_floats(gamma[p], weight);
#pragma unroll
    for (int i = 0; i < kPackSize<T>; ++i) {
      n[i] = (n[i] - row.mean) * row.rstd;
      if (row.gamma) g[i] *= weight[i];
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) layer_norm_backward_vectors(Args a) {
  constexpr int kSize = kPackSize<T>, kHeld = kPacks / 2, kTurn = kThreads * kHeld;
  __shared__ float2 partials[kWarpSize];
  const Gradients<T> row(a, blockIdx.x);
  const RowSlots<T> slots(row.dx, int(a.cols));
  HeldGradients<T, kHeld> held;
  float g[kSize], n[kSize], sum = 0, product = 0;
  for (int first = threadIdx.x; first < slots.slots; first += kTurn) {
    held.load(row, slots, first, kThreads);
#pragma unroll
    for (int p = 0; p < kHeld; ++p) {
      held.of_pack(row, p, g, n);  // outside of the row, g is 0
      sum += row_norm::sum_of(g);
#pragma unroll
      for (int i = 0; i < kSize; ++i) n[i] *= g[i];
      product += row_norm::sum_of(n);
    }
  }
  const int lane = threadIdx.x % kWarpSize;
  sum = lanes_sum(sum, kWarpSize);
  product = lanes_sum(product, kWarpSize);
  if (lane == 0) partials[threadIdx.x / kWarpSize] = {sum, product};
  __syncthreads();
  const float2 one = lane < kThreads / kWarpSize ? partials[lane] : float2{0, 0};
  const float mean_g = a.centred ? lanes_sum(one.x, kWarpSize) / float(a.cols) : 0;
  const float mean_gn = lanes_sum(one.y, kWarpSize) / float(a.cols);
  const RowBeside<T> dsum(row.dsum, slots);
  for (int first = threadIdx.x; first < slots.slots; first += kTurn) {
    held.load(row, slots, first, kThreads);
    store_row<T, kHeld>(row.dx, slots, first, kThreads, [&](int p) {
      held.of_pack(row, p, g, n);
#pragma unroll
      for (int i = 0; i < kSize; ++i) g[i] = row.rstd * (g[i] - mean_g - n[i] * mean_gn);
      if (row.dsum) {
        to_floats(dsum.load(slots, first + p * kThreads), n);
#pragma unroll
        for (int i = 0; i < kSize; ++i) g[i] += n[i];
      }
      return from_floats<T>(g);
    });
  }
}

// Whether x and dy can be read in packs down their columns.
template <class T>
static bool lies_in_packs(const Args& a) {
  return (a.cols | a.x_stride | a.dy_stride) % kPackSize<T> == 0 && is_pack_aligned(a.x) &&
         is_pack_aligned(a.dy);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.backward)
    return with_float_type(a.dtype, [&](auto t) -> Status {
      using T = decltype(t);
      const auto sums =
          lies_in_packs<T>(a) ? launch_column_sums<T, kPackSize<T>> : launch_column_sums<T, 1>;
      if (const Status s = sums(a, device, stream); !s) return s;
      if (a.rows > 0) layer_norm_backward_vectors<T><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
      return launch_status();
    });
  return with_type_and_residual(a, [&](auto t, auto added) {
    layer_norm_vectors<decltype(t), added.value><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    return column_sums_bytes(a, device, lies_in_packs<T>(a) ? kPackSize<T> : 1);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double one = double(a.rows) * double(a.cols) * double(size_of(a.dtype));
  // Forward, what is normalised is read once more; backward, x and dy are, for rows and for
  // columns.
  const double traffic = bytes(a) + (a.backward ? 4 : 1) * one;
  return held::rows_us(kTuned, traffic, a.rows, double(device.threads_per_sm) / kThreads, device);
}
constinit const Rung rung = {.idea = "16 bytes per load, four loads under way",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::layer_norm::vectors
