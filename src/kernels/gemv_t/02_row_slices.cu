// gemv_t rung 02, row_slices: blocks share the columns *and* the rows.
//
// Since 01_thread_per_column: the rows are cut into slices, as many as fill the GPU with threads; a
//   second kernel adds their sums, always in the same order.
// Stops at: bytes in flight: each load brings 4 (or 2) bytes per lane.
// Not for: matrices that have a column for every thread of the GPU: they would write and read the
//   sums of slices for nothing.
#include <algorithm>

#include "kernels/gemv_t/slices.cuh"

namespace ridge::gemv_t::row_slices {

constexpr int kThreads = 128;
constexpr int64_t kLeastRows = 32;  // a slice

template <class T>
__global__ void __launch_bounds__(kThreads) gemv_t_row_slices(Args args, int64_t rows_a_slice) {
  const int64_t col = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (col >= args.cols) return;
  const T* a = static_cast<const T*>(args.a) + col;  // (rows), a_stride apart
  const T* x = static_cast<const T*>(args.x);        // (rows)
  const int64_t begin = blockIdx.y * rows_a_slice, end = min(begin + rows_a_slice, args.rows);
  float sum = 0;
  for (int64_t r = begin; r < end; ++r)
    sum = fmaf(to_float(a[r * args.a_stride]), to_float(x[r]), sum);
  put_sum<T>(args, col, sum);
}

static int64_t slices_for(const Args& a, const DeviceInfo& device) {
  const int64_t wanted =
      int64_t(device.sm_count) * device.threads_per_sm / std::max<int64_t>(a.cols, 1);
  return std::clamp<int64_t>(std::min(wanted, a.rows / kLeastRows), 1, 65535);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  const int64_t slices = slices_for(a, device);
  return slices == 1 ? 0 : size_t(slices * a.cols) * sizeof(float);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (a.cols == 0) return Status::ok();
  const int64_t slices = slices_for(a, device);
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const dim3 grid(unsigned((a.cols + kThreads - 1) / kThreads), unsigned(slices));
    gemv_t_row_slices<T><<<grid, kThreads, 0, stream>>>(a, (a.rows + slices - 1) / slices);
    if (const Status s = launch_status(); !s || slices == 1) return s;
    return combine<T>(a, slices, stream);
  });
}
constinit const Rung rung = {.idea = "rows in slices, as many as fill the GPU",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.global_loads_per_element = 2, .conflict_free = true}};

}  // namespace ridge::gemv_t::row_slices
