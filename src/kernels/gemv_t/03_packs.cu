// gemv_t rung 03, packs: each load brings 16 bytes, and a thread has eight loads of A under way.
//
// Since 02_row_slices: a thread sums the columns of one pack (4 floats, or 8 numbers of 2 bytes),
//   and loads eight rows before it adds the first: 128 bytes of A are under way instead of 4 (or
//   2). Rows that are not whole packs are loaded element by element, eight rows at a time.
// Stops at: the slices. A row needs fewer threads, so more slices fill the GPU, and the sums of
//   each are written and read again. In narrow matrices most threads of a block have no column.
// Not for: matrices of fewer packs per row than a block has threads.
#include <algorithm>

#include "kernels/gemv_t/columns.cuh"
#include "kernels/gemv_t/slices.cuh"

namespace ridge::gemv_t::packs {

constexpr int kThreads = 128;
constexpr int kBlocksPerSm = 6;     // so that a thread has the registers for eight packs
constexpr int64_t kLeastRows = 32;  // of a slice

template <class T, int Size>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    gemv_t_packs(Args args, int64_t rows_per_slice) {
  const int64_t col = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * Size;
  if (col >= args.cols) return;
  const int64_t begin = blockIdx.y * rows_per_slice, end = min(begin + rows_per_slice, args.rows);
  float sums[Size] = {};
  add_rows<T, Size>(args, col, begin, 1, end, sums);
#pragma unroll
  for (int i = 0; i < Size; ++i) put_sum<T>(args, col + i, sums[i]);
}

static int64_t slices_for(const Args& a, const DeviceInfo& device) {
  const int64_t threads = std::max<int64_t>(a.cols / columns_per_thread(a), 1);  // for one row
  const int64_t wanted = int64_t(device.sm_count) * kBlocksPerSm * kThreads / threads;
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
  const int64_t slices = slices_for(a, device), columns = columns_per_thread(a) * kThreads;
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const dim3 grid(unsigned((a.cols + columns - 1) / columns), unsigned(slices));
    const auto kernel =
        rows_are_whole_packs(a) ? gemv_t_packs<T, kPackSize<T>> : gemv_t_packs<T, 1>;
    kernel<<<grid, kThreads, 0, stream>>>(a, (a.rows + slices - 1) / slices);
    if (const Status s = launch_status(); !s || slices == 1) return s;
    return combine<T>(a, slices, stream);
  });
}
constinit const Rung rung = {.idea = "16 bytes per load, eight rows under way",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.global_loads_per_element = 0.53, .conflict_free = true}};

}  // namespace ridge::gemv_t::packs
