// gemv rung 02, warp_per_row: 32 lanes walk along a row together.
//
// Since 01_thread_per_row: the lanes of a load are neighbours, and every byte of a sector is used
//   when it arrives. Five shuffles add up the sums of 32 lanes.
// Stops at: bytes in flight: each load brings 128 bytes per warp (64 in two-byte formats). x is
//   loaded as often as A.
// Not for: rows shorter than a warp, which leave lanes idle; a few long rows, which leave most SMs
//   without a warp.
#include "device/lanes.cuh"
#include "kernels/gemv/finish.cuh"

namespace ridge::gemv::warp_per_row {

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarpSize;

template <class T>
__global__ void __launch_bounds__(kThreads) gemv_warp_per_row(Args args) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t row = int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpSize;
  if (row >= args.rows) return;                                      // the whole warp
  const T* a = static_cast<const T*>(args.a) + row * args.a_stride;  // (cols)
  const T* x = static_cast<const T*>(args.x);                        // (cols)
  float sum = 0;
  for (int64_t k = lane; k < args.cols; k += kWarpSize)
    sum = fmaf(to_float(a[k]), to_float(x[k]), sum);
  sum = lanes_sum(sum, kWarpSize);
  if (lane == 0) finish<T>(args, row, sum);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    gemv_warp_per_row<decltype(t)>
        <<<unsigned((a.rows + kWarps - 1) / kWarps), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one warp, one row: neighbours load neighbours",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2, .barriers = 0}};

}  // namespace ridge::gemv::warp_per_row
