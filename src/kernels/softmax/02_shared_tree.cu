// softmax rung 02, shared_tree: one block per row; a tree in shared memory combines the maxima and
// sums of its threads.
//
// Since 01_three_pass_naive: the lanes of a load are neighbours, so every byte that arrives is
//   used; 256 threads have loads of one row under way.
// Stops at: barriers, ten per tree, during which nothing is loaded; the row is still read three
//   times.
// Not for: rows shorter than the block, which spend their time in the tree.
#include "kernels/softmax/row_op.cuh"

namespace ridge::softmax::shared_tree {

constexpr int kThreads = 256;

template <class F>
__device__ __forceinline__ float tree(float mine, float (&values)[kThreads], F combine) {
  values[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half)
      values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + half]);
  }
  __syncthreads();
  const float all = values[0];
  __syncthreads();  // before the next tree writes there
  return all;
}

template <class T, Op op>
__global__ void __launch_bounds__(kThreads) softmax_shared_tree(Args args) {
  using Operator = RowOp<op, Accurate>;
  __shared__ float values[kThreads];
  const Rows<T> row(args, blockIdx.x);
  const int cols = int(args.cols);
  const auto b = [&](int c) { return Operator::kForward ? 0.0f : to_float(row.dy[c]); };
  float max = -INFINITY, total = 0;
  if constexpr (Operator::kForward) {
    for (int c = threadIdx.x; c < cols; c += kThreads) max = fmaxf(max, to_float(row.in[c]));
    max = tree(max, values, [](float x, float y) { return fmaxf(x, y); });
  }
  for (int c = threadIdx.x; c < cols; c += kThreads)
    total += Operator::term(to_float(row.in[c]), b(c), max);
  total = tree(total, values, [](float x, float y) { return x + y; });
  const float finished = Operator::finish(total);
  for (int c = threadIdx.x; c < cols; c += kThreads)
    row.out[c] = from_float<T>(Operator::result(to_float(row.in[c]), b(c), max, finished));
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  return with_type_and_op(a, [&](auto t, auto op) {
    softmax_shared_tree<decltype(t), op.value><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one block, one row: trees in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::softmax::shared_tree
