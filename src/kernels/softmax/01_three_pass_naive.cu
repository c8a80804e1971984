// softmax rung 01, three_pass_naive: every thread walks along its own row three times.
//
// Stops at: sectors. The lanes of a load are one row apart, and each brings 32 bytes and uses 4 (or
//   2) of them. The row is read three times: for its maximum, its sum and its results.
// Not for: anything but rows of one or two columns.
#include "kernels/softmax/row_op.cuh"

namespace ridge::softmax::three_pass_naive {

constexpr int kThreads = 128;

template <class T, Op op>
__global__ void __launch_bounds__(kThreads) softmax_three_pass_naive(Args args) {
  using Operator = RowOp<op, Accurate>;
  const int64_t r = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (r >= args.rows) return;
  const Rows<T> row(args, r);
  const auto b = [&](int c) { return Operator::kForward ? 0.0f : to_float(row.dy[c]); };
  float max = -INFINITY, total = 0;
  if constexpr (Operator::kForward) {
    for (int c = 0; c < args.cols; ++c) max = fmaxf(max, to_float(row.in[c]));
  }
  for (int c = 0; c < args.cols; ++c) total += Operator::term(to_float(row.in[c]), b(c), max);
  const float finished = Operator::finish(total);
  for (int c = 0; c < args.cols; ++c)
    row.out[c] = from_float<T>(Operator::result(to_float(row.in[c]), b(c), max, finished));
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  return with_type_and_op(a, [&](auto t, auto op) {
    softmax_three_pass_naive<decltype(t), op.value>
        <<<unsigned((a.rows + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one row, three times",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::softmax::three_pass_naive
