// gemv_quantised rung 01, thread_per_row: one thread multiplies one row with x, code by code.
//
// Any format: the scale of each code is looked up anew, and a switch chooses the conversion.
// Stops at: memory: each load brings a whole sector, of which one byte is used; few rows leave most
//   of the GPU idle.
// Not for: any size. It is what the definition says.
#include "kernels/gemv_quantised/gemv_quantised.h"
#include "kernels/quantisation/any_format.cuh"

namespace ridge::gemv_quantised::thread_per_row {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads) gemv_quantised_thread_per_row(Args a) {
  const int64_t r = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (r >= a.w.rows) return;
  float sum = 0;
  for (int64_t c = 0; c < a.w.cols; ++c)
    sum = fmaf(quantisation::weight(a.w, r, c), quantisation::load_any(a.x, a.w.dtype, c), sum);
  quantisation::store_any(a.y, a.w.dtype, r, sum);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.w.rows < int64_t(kThreads) << 31 ? kSupported : "starts up to 2^31 blocks";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  gemv_quantised_thread_per_row<<<unsigned((a.w.rows + kThreads - 1) / kThreads), kThreads, 0,
                                  stream>>>(a);
  return launch_status();
}
constinit const Rung rung = {.idea = "one thread, one row, one code at a time",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::gemv_quantised::thread_per_row
