// vector_add rung 02, grid_stride: as many threads as the GPU holds, and each walks through the
// array.
//
// Since 01_thread_per_element: the grid fits the device, whatever the size of the array; the next
//   loads of a thread can start before its last store is done.
// Stops at: bytes in flight: each load still brings 4 (or 2) bytes per lane.
// Not for: arrays for which the GPU can hold enough threads: a grid that strides is a few percent
//   slower than one that ends.
#include "device/convert.cuh"
#include "kernels/vector_add/vector_add.h"

namespace ridge::vector_add::grid_stride {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) vector_add_grid_stride(Args args) {
  const int64_t step = int64_t(gridDim.x) * kThreads;
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < args.rows * args.cols;
       i += step) {
    const int64_t r = args.rows == 1 ? 0 : i / args.cols, c = i - r * args.cols;
    const float a = to_float(static_cast<const T*>(args.a)[r * args.a_stride + c * args.a_step]);
    const float b = to_float(static_cast<const T*>(args.b)[r * args.b_stride + c * args.b_step]);
    static_cast<T*>(args.out)[r * args.out_stride + c * args.out_step] = from_float<T>(a + b);
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "adds f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const int64_t n = a.rows * a.cols;
  if (n == 0) return Status::ok();
  const int64_t resident = int64_t(device.sm_count) * device.threads_per_sm / kThreads;
  const unsigned blocks = unsigned(std::min((n + kThreads - 1) / kThreads, resident));
  return with_float_type(a.dtype, [&](auto t) {
    vector_add_grid_stride<decltype(t)><<<blocks, kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "a grid that fits the GPU, each thread in steps",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 2, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::vector_add::grid_stride
