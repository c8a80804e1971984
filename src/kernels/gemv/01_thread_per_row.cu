// gemv rung 01, thread_per_row: every thread is one dot product.
//
// Stops at: sectors. The 32 lanes of a load are one row apart, so each lane brings a sector of 32
//   bytes and uses 4 (or 2) of them now. The rest must survive in L1 until the next loads use it,
//   among the sectors of all other threads.
// Not for: rows of more than a few columns. Rows that fit a sector waste nothing.
#include "kernels/gemv/finish.cuh"

namespace ridge::gemv::thread_per_row {

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads) gemv_thread_per_row(Args args) {
  const int64_t row = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= args.rows) return;
  const T* a = static_cast<const T*>(args.a) + row * args.a_stride;  // (cols)
  const T* x = static_cast<const T*>(args.x);                        // (cols)
  float sum = 0;
  for (int64_t k = 0; k < args.cols; ++k) sum = fmaf(to_float(a[k]), to_float(x[k]), sum);
  finish<T>(args, row, sum);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    gemv_thread_per_row<decltype(t)>
        <<<unsigned((a.rows + kThreads - 1) / kThreads), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread, one row",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2, .barriers = 0}};

}  // namespace ridge::gemv::thread_per_row
