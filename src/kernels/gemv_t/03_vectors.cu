// gemv_t rung 03, vectors: each load brings 16 bytes, and a lane has eight loads of A under way.
//
// Since 02_row_slices: a lane sums whole packs of columns: two packs side by side, of four rows at
//   a time, so 128 bytes are under way instead of 4 (or 2). The warps of a block share the rows of
//   a slice and add their sums in shared memory, so fewer slices are written and read again. In
//   narrow matrices fewer lanes work on a row, and a warp on several rows.
// Stops at: the second kernel, which adds the slices, and the end of the first, when the last
//   slices have the GPU to themselves: together 10 µs on an H200, whatever the size. Rows that are
//   not whole packs cost two loads per pack.
// Not for: several vectors x at once: that is a matrix product.
#include "kernels/gemv_t/slices.cuh"
#include "kernels/gemv_t/vectors.cuh"

namespace ridge::gemv_t::vectors {

using namespace packs;

template <class T, bool Congruent>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    gemv_t_vectors(Args args, int lanes, int64_t rows_per_slice) {
  __shared__ float4 shared_sums[kSumQuads<T>];
  sum_slice<T, Congruent>(args, lanes, rows_per_slice, shared_sums);
  const int width = lanes * kPacks * kPackSize<T>;  // columns of the tile
  const int64_t first_col = int64_t(blockIdx.x) * width;
  for (int c = threadIdx.x; c < width && first_col + c < args.cols; c += kThreads)
    put_sum<T>(args, first_col + c, sum_of_workers<T>(shared_sums, lanes, c));
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  const Plan plan = plan_for(a, device);
  return plan.slices == 1 ? 0 : size_t(plan.slices * a.cols) * sizeof(float);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.cols == 0) return Status::ok();
  const Plan plan = plan_for(a, device);
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const dim3 grid(unsigned(plan.tiles), unsigned(plan.slices));
    const auto kernel = plan.congruent ? gemv_t_vectors<T, true> : gemv_t_vectors<T, false>;
    kernel<<<grid, kThreads, 0, stream>>>(a, plan.lanes, plan.rows_per_slice);
    if (const Status s = launch_status(); !s || plan.slices == 1) return s;
    return combine<T>(a, plan.slices, stream);
  });
}
constinit const Rung rung = {.idea = "16 bytes per load, warps share the rows of a slice",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.barriers = 1}};

}  // namespace ridge::gemv_t::vectors
