// gemv rung 06, fitted_lanes: as many lanes work on a row as it has packs for.
//
// Since 05_shared_x: short rows get 4, 8, 16 or 32 lanes of a warp, and each lane works on four
//   rows with one or two packs of each under way; long rows get a warp or a block, as before. Lanes
//   of a warp add their sums by shuffles; a block needs one barrier instead of eight per row.
// Stops at: rows that do not lie alike, of 1023 floats for instance: they load x element by element
//   and cannot share it.
// Not for: fewer rows than fill the GPU, however long they are.
#include "kernels/gemv/shapes.cuh"
#include "kernels/gemv/shared_x.cuh"
#include "kernels/gemv/totals.cuh"

namespace ridge::gemv::fitted_lanes {

template <class T, int Lanes, int Unroll, int Rows>
__global__ void __launch_bounds__(Shape{Lanes, Unroll, Rows}.threads(),
                                  Shape{Lanes, Unroll, Rows}.blocks_per_sm(sizeof(T)))
    gemv_fitted_lanes(Args args) {
  __shared__ float of_warps[Rows][kWarpsOf<Lanes>];
  constexpr Shape kShape = {Lanes, Unroll, Rows};  // which a kernel's template cannot take
  const int lane = threadIdx.x % Lanes;
  const int64_t first_row =
      int64_t(blockIdx.x) * kShape.rows_per_block() + threadIdx.x / Lanes * Rows;
  const T* const x = static_cast<const T*>(args.x);  // (cols)
  const T* rows[Rows];                               // each (cols)
  rows_from(args, first_row, rows);
  float sum[Rows] = {};
  add_rows<Lanes, Unroll>(rows, x, args.cols, lane, sum);
  put_totals<Lanes>(sum, lane, first_row, of_warps, [&](int64_t row, float total) {
    if (row < args.rows) finish<T>(args, row, total);
  });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static Shape shape_for(const Args& a) {
  const size_t size = size_of(a.dtype);
  const int64_t packs = a.cols * int64_t(size) / kPackBytes;
  if (!rows_lie_alike(a)) return long_shape_for(packs, 1, size);
  const Shape* const short_shape = short_shape_for(packs);
  return short_shape ? *short_shape : long_shape_for(packs, 2, size);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    with_shape(shape_for(a), [&](auto shape) {
      constexpr Shape kShape = decltype(shape)::value;
      const int64_t blocks = (a.rows + kShape.rows_per_block() - 1) / kShape.rows_per_block();
      gemv_fitted_lanes<decltype(t), kShape.lanes, kShape.unroll, kShape.rows>
          <<<unsigned(blocks), kShape.threads(), 0, stream>>>(a);
    });
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "as many lanes per row as it has packs for",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 0.375, .conflict_free = true}};

}  // namespace ridge::gemv::fitted_lanes
