// gemv_quantised rung 02, warp_per_row: 32 lanes walk along a row together.
//
// Since 01_thread_per_row: neighbours read neighbouring codes, so every byte of a sector is used
//   when it arrives. Five shuffles add up the sums of the lanes.
// Stops at: instructions: the place of a code and of its scale, and the switch over formats, take
//   several times those of the product. One byte per load.
// Not for: rows of whole packs, which 03 reads 16 bytes at a time. Rows of any other length are
//   left to this rung.
#include "device/lanes.cuh"
#include "kernels/gemv_quantised/gemv_quantised.h"
#include "kernels/quantisation/any_format.cuh"
#include "select/select.h"

namespace ridge::gemv_quantised::warp_per_row {

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;
constexpr Tuned kTuned = {4.0, 0.05};  // not measured yet: what the model says

__global__ void __launch_bounds__(kThreads) gemv_quantised_warp_per_row(Args a) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t r = int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (r >= a.w.rows) return;  // the whole warp
  float sum = 0;
  for (int64_t c = lane; c < a.w.cols; c += kWarpSize)
    sum = fmaf(quantisation::weight(a.w, r, c), quantisation::load_any(a.x, a.w.dtype, c), sum);
  sum = lanes_sum(sum, kWarpSize);
  if (lane == 0) quantisation::store_any(a.y, a.w.dtype, r, sum);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.w.rows < int64_t(kWarps) << 31 ? kSupported : "starts up to 2^31 blocks";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  gemv_quantised_warp_per_row<<<unsigned((a.w.rows + kWarps - 1) / kWarps), kThreads, 0, stream>>>(
      a);
  return launch_status();
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "one warp, one row: neighbours load neighbours",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::gemv_quantised::warp_per_row
