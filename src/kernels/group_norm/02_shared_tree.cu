// group_norm rung 02, shared_tree: one block per row; trees in shared memory add up the mean, and
// then the squared distances from it.
//
// Since 01_naive: the lanes of a load are neighbours, so every byte that arrives is used. The
//   variance is made from distances to the mean, which are small where the mean is large.
//   Backward, one warp adds up each channel of each sample, and a last launch those of all
//   samples.
// Stops at: barriers, ten per tree, during which nothing is loaded; the row is read three times.
// Not for: few rows: 32 groups of one sample are 32 blocks.
#include "device/tree.cuh"
#include "kernels/group_norm/run_sums.cuh"

namespace ridge::group_norm::shared_tree {

constexpr int kThreads = kTreeThreads;

__device__ __forceinline__ float tree_sum(float mine, float (&values)[kThreads]) {
  return tree(mine, values, [](float x, float y) { return x + y; });
}

template <class T>
__global__ void __launch_bounds__(kThreads) group_norm_shared_tree(Args a, Divider by_inner) {
  __shared__ float values[kThreads];
  const Group<T> row(a, blockIdx.x, by_inner);
  const float n = float(row.cols);
  float sum = 0, squares = 0;
  if (a.backward) {
    for (int i = threadIdx.x; i < row.cols; i += kThreads) {
      sum += row.g(i);
      squares += row.g(i) * row.h(i);
    }
    const float mean_g = tree_sum(sum, values) / n, mean_gh = tree_sum(squares, values) / n;
    for (int i = threadIdx.x; i < row.cols; i += kThreads) row.put_dx(i, mean_g, mean_gh);
    return;
  }
  for (int i = threadIdx.x; i < row.cols; i += kThreads) sum += row.at(i);
  const float mean = tree_sum(sum, values) / n;
  for (int i = threadIdx.x; i < row.cols; i += kThreads) {
    const float d = row.at(i) - mean;
    squares += d * d;
  }
  const float rstd = rsqrtf(tree_sum(squares, values) / n + a.epsilon);
  for (int i = threadIdx.x; i < row.cols; i += kThreads) row.put(i, mean, rstd);
  if (threadIdx.x == 0) put_statistics(a, blockIdx.x, mean, rstd);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) -> Status {
    using T = decltype(t);
    if (a.backward)
      if (const Status s = launch_run_sums<T, false>(a, static_cast<RunSums*>(a.workspace), stream);
          !s)
        return s;
    if (a.elements() > 0)
      group_norm_shared_tree<T><<<unsigned(a.rows()), kThreads, 0, stream>>>(a, by_inner(a));
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo&) { return run_sums_bytes(a); }
constinit const Rung rung = {.idea = "one block, one row: mean, then distances, by trees",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::group_norm::shared_tree
