// layer_norm rung 02, shared_tree: one block per row; trees in shared memory add up the mean, and
// then the squared distances from it.
//
// Since 01_naive: the lanes of a load are neighbours, so every byte that arrives is used. The
//   variance is made from distances to the mean, which are small where the mean is large. Backward,
//   slices of the rows have partial sums of the columns.
// Stops at: barriers, ten per tree, during which nothing is loaded; the row is read three times.
// Not for: rows shorter than the block, which spend their time in the tree.
#include "device/tree.cuh"
#include "kernels/layer_norm/column_sums.cuh"

namespace ridge::layer_norm::shared_tree {

constexpr int kThreads = kTreeThreads;

__device__ __forceinline__ float tree_sum(float mine, float (&values)[kThreads]) {
  return tree(mine, values, [](float x, float y) { return x + y; });
}

template <class T>
__global__ void __launch_bounds__(kThreads) layer_norm_shared_tree(Args a) {
  __shared__ float values[kThreads];
  const Rows<T> row(a, blockIdx.x);
  const int cols = int(a.cols);
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += row.first(c);
  const float mean = a.centred ? tree_sum(sum, values) / float(cols) : 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float d = row.again(c) - mean;
    squares += d * d;
  }
  const float rstd = rsqrtf(tree_sum(squares, values) / float(cols) + a.epsilon);
  for (int c = threadIdx.x; c < cols; c += kThreads) row.put(c, mean, rstd);
  if (threadIdx.x == 0) put_statistics(a, blockIdx.x, mean, rstd);
}

template <class T>
__global__ void __launch_bounds__(kThreads) layer_norm_backward_shared_tree(Args a) {
  __shared__ float values[kThreads];
  const Gradients<T> row(a, blockIdx.x);
  const int cols = int(a.cols);
  float sum = 0, product = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    sum += row.g(c);
    product += row.g(c) * row.n(c);
  }
  const float mean_g = a.centred ? tree_sum(sum, values) / float(cols) : 0;
  const float mean_gn = tree_sum(product, values) / float(cols);
  for (int c = threadIdx.x; c < cols; c += kThreads) row.put(c, mean_g, mean_gn);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) -> Status {
    using T = decltype(t);
    if (a.backward)
      if (const Status s = launch_column_sums<T, 1>(a, device, stream); !s) return s;
    const auto kernel = a.backward ? layer_norm_backward_shared_tree<T> : layer_norm_shared_tree<T>;
    if (a.rows > 0) kernel<<<unsigned(a.rows), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return column_sums_bytes(a, device, 1);
}
constinit const Rung rung = {.idea = "one block, one row: mean, then distances, by trees",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::layer_norm::shared_tree
