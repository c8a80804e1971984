// gemv_t rung 04, shared_rows: the threads of a block share the rows of a slice.
//
// Since 03_packs: at most 64 threads of a block work side by side on one row; the others take other
//   rows of the slice, and all add their sums in shared memory. So the GPU is filled by fewer
//   slices, of which less is written and read again. A narrow matrix gets fewer threads per row,
//   and no thread is idle.
// Stops at: the second kernel, which adds the slices. It cannot start before the last slice of the
//   first kernel has ended, when most of the GPU is idle.
// Not for: several vectors x at once: that is a matrix product.
#include "kernels/gemv_t/slices.cuh"
#include "kernels/gemv_t/workers.cuh"

namespace ridge::gemv_t::shared_rows {

using namespace workers;

template <class T, int Size>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    gemv_t_shared_rows(Args args, int lanes, int64_t rows_per_slice) {
  __shared__ alignas(sizeof(float) * Size) float shared[kThreads * Size];
  sum_slice<T, Size>(args, lanes, rows_per_slice, shared,
                     [&](int64_t col, float sum) { put_sum<T>(args, col, sum); });
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
    const auto kernel =
        rows_are_whole_packs(a) ? gemv_t_shared_rows<T, kPackSize<T>> : gemv_t_shared_rows<T, 1>;
    kernel<<<grid, kThreads, 0, stream>>>(a, plan.lanes, plan.rows_per_slice);
    if (const Status s = launch_status(); !s || plan.slices == 1) return s;
    return combine<T>(a, plan.slices, stream);
  });
}
constinit const Rung rung = {.idea = "the threads of a block share the rows of a slice",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.global_loads_per_element = 0.53, .barriers = 1}};

}  // namespace ridge::gemv_t::shared_rows
