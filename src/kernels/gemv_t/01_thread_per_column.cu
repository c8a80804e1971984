// gemv_t rung 01, thread_per_column: every thread walks down its own column.
//
// Stops at: the number of threads. Neighbours load neighbours, so no byte is wasted; but there are
//   only as many threads as columns, a few warps per SM, each with 4 (or 2) bytes per lane under
//   way.
// Not for: anything but matrices of very many columns.
#include "kernels/gemv/finish.cuh"
#include "kernels/gemv_t/gemv_t.h"

namespace ridge::gemv_t::thread_per_column {

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads) gemv_t_thread_per_column(Args args) {
  const int64_t col = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (col >= args.cols) return;
  const T* a = static_cast<const T*>(args.a) + col;  // (rows), a_stride apart
  const T* x = static_cast<const T*>(args.x);        // (rows)
  float sum = 0;
  for (int64_t r = 0; r < args.rows; ++r)
    sum = fmaf(to_float(a[r * args.a_stride]), to_float(x[r]), sum);
  gemv::finish<T>(args, col, sum);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.cols == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    gemv_t_thread_per_column<decltype(t)>
        <<<unsigned((a.cols + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one column",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2, .barriers = 0}};

}  // namespace ridge::gemv_t::thread_per_column
