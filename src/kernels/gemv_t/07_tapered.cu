// gemv_t rung 07, tapered: each slice is shorter than the one before.
//
// Since 06_own_boundaries: blocks with equal slices end together, and the last wave of blocks fills
//   only a part of the GPU. Here the slices that start last are the shortest, so little is left to
//   do when the first SM becomes idle.
// Stops at: HBM.
// Not for: several vectors x at once: that is a matrix product.
#include "kernels/gemv_t/aligned_rows.cuh"
#include "select/select.h"

namespace ridge::gemv_t::tapered {

using namespace aligned_rows;

constexpr double kTaper = 0.9;  // of 0 … 1
constexpr Tuned kTuned = {3.0, 0.92};

// The first step of a slice: a parabola through 0 and `steps`.
__device__ __forceinline__ int64_t first_step(const Cut& cut, unsigned slice) {
  const double t = double(slice) / double(cut.slices);
  return int64_t(double(cut.steps) * t * (1 + cut.taper - cut.taper * t));
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    gemv_t_tapered(Args args, Cut cut, Meeting meeting) {
  sum_slice<T>(args, cut, meeting, [&](unsigned slice) { return first_step(cut, slice); });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return a.cols == 0 ? 0 : meeting_bytes(a, cut_for(a, device, kTaper));
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.cols == 0) return Status::ok();
  const Cut cut = cut_for(a, device, kTaper);
  return with_float_type(a.dtype, [&](auto t) {
    const dim3 grid(unsigned(cut.tiles), unsigned(cut.slices));
    gemv_t_tapered<decltype(t)><<<grid, kThreads, 0, stream>>>(
        a, cut, reduction::meeting_at<float4>(a.workspace, cut.tiles));
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, gemv_t::bytes_read(a) + gemv_t::bytes_written(a), device);
}
constinit const Rung rung = {.idea = "each slice is shorter than the one before",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.global_loads_per_element = 0.5}};

}  // namespace ridge::gemv_t::tapered
