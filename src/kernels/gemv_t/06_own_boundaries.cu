// gemv_t rung 06, own_boundaries: every row is read in aligned packs, wherever it starts.
//
// Since 05_last_block: rows that are not whole packs are loaded in packs, too. A worker takes only
//   rows that start at the same distance from a 16-byte boundary, and reads each from the boundary
//   before its start (aligned_rows.cuh says how). Tiles are cut so that the last block adds at most
//   16 packs of four sums per thread, and long rows get 128 threads side by side.
// Stops at: the last wave of blocks, which fills only a part of the GPU.
// Not for: several vectors x at once: that is a matrix product.
#include "kernels/gemv_t/aligned_rows.cuh"

namespace ridge::gemv_t::own_boundaries {

using namespace aligned_rows;

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    gemv_t_own_boundaries(Args args, Cut cut, Meeting meeting) {
  sum_slice<T>(args, cut, meeting, [&](unsigned slice) { return cut.steps * slice / cut.slices; });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return a.cols == 0 ? 0 : meeting_bytes(a, cut_for(a, device, 0));
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.cols == 0) return Status::ok();
  const Cut cut = cut_for(a, device, 0);
  return with_float_type(a.dtype, [&](auto t) {
    const dim3 grid(unsigned(cut.tiles), unsigned(cut.slices));
    gemv_t_own_boundaries<decltype(t)><<<grid, kThreads, 0, stream>>>(
        a, cut, reduction::meeting_at<float4>(a.workspace, cut.tiles));
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "aligned packs of every row, wherever it starts",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.global_loads_per_element = 0.5}};

}  // namespace ridge::gemv_t::own_boundaries
