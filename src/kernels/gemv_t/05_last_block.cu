// gemv_t rung 05, last_block: the last block of a tile adds the sums of all its slices.
//
// Since 04_shared_rows: no second kernel. The blocks of a tile count their arrivals in the
//   workspace; the one that arrives last finds the sums of all slices in the L2 cache, and adds
//   them, always in the same order.
// Stops at: tall, narrow matrices: few tiles have many slices each, and while their last blocks add
//   them the rest of the GPU is idle (131072x1024 bf16: 147 µs, 78 µs with a second kernel); and
//   rows that are not whole packs, which are still loaded element by element.
// Not for: several vectors x at once: that is a matrix product.
#include "kernels/gemv/finish.cuh"
#include "kernels/gemv_t/workers.cuh"
#include "ridge/detail/reduce_block.cuh"

namespace ridge::gemv_t::last_block {

using namespace workers;
using Meeting = reduction::Meeting<float>;  // one counter per tile; sums (slices, cols)

template <class T, int Size>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    gemv_t_last_block(Args args, int lanes, int64_t rows_per_slice, Meeting meeting) {
  __shared__ alignas(sizeof(float) * Size) float shared[kThreads * Size];
  const int slices = int(gridDim.y);
  sum_slice<T, Size>(args, lanes, rows_per_slice, shared, [&](int64_t col, float sum) {
    if (slices == 1) gemv::finish<T>(args, col, sum);
    else meeting.partials[blockIdx.y * args.cols + col] = sum;
  });
  if (slices == 1) return;

  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = reduction::is_last_arrival(meeting.arrivals + blockIdx.x, unsigned(slices));
  __syncthreads();
  if (!is_last) return;
  const int width = lanes * Size;
  const int64_t first_col = int64_t(blockIdx.x) * width;
  const float* const sums = meeting.partials + first_col;  // (slices, width), cols apart
  fold(
      shared, width, int(min(int64_t(width), args.cols - first_col)), slices,
      [&](int s, int c) { return reduction::load_fresh(sums + s * args.cols + c); },
      [&](int c, float sum) { gemv::finish<T>(args, first_col + c, sum); });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  const Plan plan = plan_for(a, device);
  return plan.slices == 1 ? 0 : reduction::meeting_bytes<float>(plan.tiles, plan.slices * a.cols);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.cols == 0) return Status::ok();
  const Plan plan = plan_for(a, device);
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const dim3 grid(unsigned(plan.tiles), unsigned(plan.slices));
    const auto kernel =
        rows_are_whole_packs(a) ? gemv_t_last_block<T, kPackSize<T>> : gemv_t_last_block<T, 1>;
    kernel<<<grid, kThreads, 0, stream>>>(a, plan.lanes, plan.rows_per_slice,
                                          reduction::meeting_at<float>(a.workspace, plan.tiles));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "the last block of a tile adds its slices",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.global_loads_per_element = 0.53, .barriers = 3}};

}  // namespace ridge::gemv_t::last_block
