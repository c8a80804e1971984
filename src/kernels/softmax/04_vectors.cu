// softmax rung 04, vectors: each load brings 16 bytes, and four loads are under way.
//
// Since 03_warp_shuffle: 64 bytes per lane are under way instead of 4 (or 2), and a block of 256
//   threads works on a row, so that wide rows have as much under way as narrow ones. Exponentials
//   use the special function unit.
// Stops at: reading three times. The second and third read come from L2 at best.
// Not for: rows of less than some thousand columns, which do not have four packs per thread.
#include "kernels/softmax/max_sum.cuh"
#include "kernels/softmax/row_packs.cuh"

namespace ridge::softmax::vectors {

constexpr int kThreads = 256;
constexpr int kPacks = 4;

template <class T, Op op>
__global__ void __launch_bounds__(kThreads) softmax_vectors(Args args) {
  using Operator = RowOp<op, Fast>;
  constexpr bool kForward = Operator::kForward;
  __shared__ float2 maxima[kWarpSize], sums[kWarpSize];
  const Rows<T> row(args, blockIdx.x);
  const RowSlots<T> slots(row.out, int(args.cols));
  Pack<T> a[kPacks], b[kForward ? 1 : kPacks] = {};
  const auto for_all_packs = [&](auto f) {
    for_packs_of_row<kForward, kThreads>(a, b, row, slots, f);
  };

  MaxSum mine = empty<kForward>();
  if constexpr (kForward) {
    for_all_packs([&](int) { mine.max = max_of(a, mine.max); });
    mine = warps_merge<true>(lanes_merge<true>(mine), maxima);
    mine.sum = 0;
  }
  const float max = mine.max;
  for_all_packs([&](int) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p)
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i)
        mine.sum += Operator::term(to_float(a[p][i]), to_float(b[kForward ? 0 : p][i]), max);
  });
  const MaxSum whole = warps_merge<false>(lanes_merge<false>({0, mine.sum}), sums);
  const float finished = Operator::finish(whole.sum);
  for_all_packs([&](int first) {
    store_row<T, kPacks>(row.out, slots, first, kThreads, [&](int p) {
      float y[kPackSize<T>];
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i)
        y[i] = Operator::result(to_float(a[p][i]), to_float(b[kForward ? 0 : p][i]), max, finished);
      return from_floats<T>(y);
    });
  });
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return Status::ok();
  return with_type_and_op(a, [&](auto t, auto op) {
    softmax_vectors<decltype(t), op.value><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "16 bytes per load, four loads under way",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::softmax::vectors
