// normalize rung 03, vectors: the whole device shares a row or a vector; a second kernel scales it.
//
// Since 02_row_in_registers: as many blocks as fit take part in the norm of one row, and the last
//   of them finishes it, so that a few long rows, or one vector of any length, keep all SMs busy.
//   By then the elements are no longer in registers. They are read again, backwards, because those
//   that were read last are still in the L2.
// Stops at: HBM, with a second read of what exceeds the L2; for small vectors, at two launches.
// Not for: many rows that fit a block: 02 reads those only once.
#include "kernels/normalize/scale.cuh"
#include "select/select.h"

namespace ridge::normalize::vectors {

constexpr int kThreads = 256, kUnroll = 4;
constexpr Tuned kTuned = {5.0, 0.90};

// A block takes kThreads * kUnroll packs of a row; the last one of a row its edges, too.
template <class Scale, class T>
__global__ void __launch_bounds__(kThreads)
    scale_backwards(Args a, const float* norms, int64_t blocks_a_row) {
  const int64_t index = gridDim.x - 1 - blockIdx.x;
  const int64_t r = a.rows == 1 ? 0 : index / blocks_a_row, block = index - r * blocks_a_row;
  const CutRow<T> row(a, r);
  const int64_t first = block * (kThreads * kUnroll) + threadIdx.x;
  Pack<T> x[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    if (first + u * kThreads < row.packs) x[u] = row.template load<false>(first + u * kThreads);
  const Scale scale(a, norms[r]);
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    if (first + u * kThreads < row.packs) row.store(first + u * kThreads, scaled(scale, x[u]));
  if (block == blocks_a_row - 1 && int(threadIdx.x) < row.edges()) {
    const int64_t i = row.edge(int(threadIdx.x));
    row.out[i] = from_float<T>(scale(to_float(row.x[i])));
  }
}

template <class T>
static AxisView<T> rows_of(const Args& a) {
  return {static_cast<const T*>(a.x), a.rows, a.cols, 1, a.x_stride, 1};
}
static size_t norms_bytes(const Args& a) {  // of rows, in front of what computing them needs
  return (size_t(a.rows) * sizeof(float) + 15) / 16 * 16;
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return with_norm(a, [&](auto norm, auto t) {
    using T = decltype(t);
    if (a.kind == Kind::clip)
      return reduce_workspace<reduction::ReadAgain>(
          norm, Vectors<T>{{static_cast<const T*>(a.x)}, a.cols}, device);
    return norms_bytes(a) + reduce_axis_workspace(norm, rows_of<T>(a), device);
  });
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_norm(a, [&](auto norm, auto t) -> Status {
    using T = decltype(t);
    float* norms = a.norm;
    if (a.kind == Kind::clip) {
      const Vectors<T> v = {{static_cast<const T*>(a.x)}, a.cols};
      const Status s = launch_reduce<reduction::ReadAgain>(
          norm, v, norms, {a.workspace, a.workspace_bytes}, device, stream);
      if (!s) return s;
    } else {
      if (a.rows * a.cols == 0) return Status::ok();
      norms = static_cast<float*>(a.workspace);
      const Workspace rest = {static_cast<char*>(a.workspace) + norms_bytes(a),
                              a.workspace_bytes - norms_bytes(a)};
      const Status s = launch_reduce_axis(norm, rows_of<T>(a), norms, 1, rest, device, stream);
      if (!s) return s;
    }
    if (a.rows * a.cols == 0) return Status::ok();
    const int64_t blocks_a_row = a.cols / kPackSize<T> / (kThreads * kUnroll) + 1;
    const auto scale = a.kind == Kind::clip ? scale_backwards<Clip, T> : scale_backwards<Divide, T>;
    scale<<<unsigned(a.rows * blocks_a_row), kThreads, 0, stream>>>(a, norms, blocks_a_row);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double again = std::max(0.0, bytes(a) / 2 - double(device.l2_bytes) / 2);
  return streaming_us(kTuned, bytes(a) + again, device);
}
constinit const Rung rung = {
    .idea = "the whole device shares a row, then scales it",
    .supports = supports_all,
    .launch = launch,
    .workspace = workspace,
    .cost = cost,
    .claims = {.global_loads_per_element = 0.75, .global_stores_per_element = 0.25}};

}  // namespace ridge::normalize::vectors
