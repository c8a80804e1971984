// gemv rung 05, shared_x: a pack of x serves two rows.
//
// Since 04_packs: a block works on two rows, and a thread multiplies each pack of x with the packs
//   of both. x is loaded and converted half as often, and eight loads of A are under way instead of
//   four. Rows whose packs are at different columns cannot share; such a block has one row.
// Stops at: the 256 threads of a row. Short rows leave most of them without a pack.
// Not for: few rows. Blocks of two rows leave half of the SMs without work.
#include "kernels/gemv/shared_x.cuh"
#include "kernels/gemv/tree.cuh"

namespace ridge::gemv::shared_x {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;  // packs of each row that a thread has under way
constexpr int kRows = 2;

template <class T, int Rows>
__global__ void __launch_bounds__(kThreads) gemv_shared_x(Args args) {
  __shared__ float sums[Rows][kThreads];
  const int64_t first_row = int64_t(blockIdx.x) * Rows;
  const T* const x = static_cast<const T*>(args.x);  // (cols)
  const T* rows[Rows];                               // each (cols)
  rows_from(args, first_row, rows);
  float sum[Rows] = {};
  add_rows<kThreads, kUnroll>(rows, x, args.cols, int(threadIdx.x), sum);
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    sums[r][threadIdx.x] = sum[r];
    tree_sum<kThreads>(sums[r]);
    if (threadIdx.x == 0 && first_row + r < args.rows) finish<T>(args, first_row + r, sums[r][0]);
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    if (rows_lie_alike(a))
      gemv_shared_x<T, kRows><<<unsigned((a.rows + kRows - 1) / kRows), kThreads, 0, stream>>>(a);
    else gemv_shared_x<T, 1><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "a pack of x serves two rows",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 0.375, .barriers = 16, .conflict_free = true}};

}  // namespace ridge::gemv::shared_x
