// gemv rung 03, block_per_row: 256 threads work on one row, and a tree in shared memory adds their
// sums.
//
// Since 02_warp_per_row: eight times as many loads of one row are under way, so a matrix of few,
//   long rows fills the GPU too.
// Stops at: bytes in flight. Each load still brings 4 (or 2) bytes per lane. Every row also pays
//   for the eight levels of the tree, with one barrier per level.
// Not for: rows of less than some thousand columns. They spend most of their time in the tree.
#include "kernels/gemv/finish.cuh"
#include "kernels/gemv/tree.cuh"

namespace ridge::gemv::block_per_row {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) gemv_block_per_row(Args args) {
  __shared__ float sums[kThreads];
  const int64_t row = blockIdx.x;
  const T* a = static_cast<const T*>(args.a) + row * args.a_stride;  // (cols)
  const T* x = static_cast<const T*>(args.x);                        // (cols)
  float sum = 0;
  for (int64_t k = threadIdx.x; k < args.cols; k += kThreads)
    sum = fmaf(to_float(a[k]), to_float(x[k]), sum);
  sums[threadIdx.x] = sum;
  tree_sum<kThreads>(sums);
  if (threadIdx.x == 0) finish<T>(args, row, sums[0]);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    gemv_block_per_row<decltype(t)><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "one block, one row: a tree in shared memory",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 2, .barriers = 8, .conflict_free = true}};

}  // namespace ridge::gemv::block_per_row
