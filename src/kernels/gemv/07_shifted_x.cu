// gemv rung 07, shifted_x: rows that lie anywhere read x in packs too.
//
// Since 06_fitted_lanes: where a row of A and x are not equally far from a 16-byte boundary (not
//   congruent), a lane loads the two aligned packs of x around the elements that it needs, and
//   shifts them together. Before, it loaded such elements one by one. Short rows of any alignment
//   now go to few lanes, too: a lane works on four of them, each with its own x.
// Stops at: HBM, if there are enough rows. A matrix of 16 long rows is only 8 blocks, and an H200
//   has 132 SMs.
// Not for: fewer rows than fill the GPU, however long they are.
#include <cstdint>

#include "kernels/gemv/shifted_x.cuh"
#include "kernels/gemv/totals.cuh"

namespace ridge::gemv::shifted_x {

template <class T, int Lanes, int Unroll, int Rows, bool Congruent>
__global__ void __launch_bounds__(Shape{Lanes, Unroll, Rows}.threads(),
                                  Shape{Lanes, Unroll, Rows}.blocks_per_sm(sizeof(T)))
    gemv_shifted_x(Args args) {
  __shared__ float of_warps[Rows][kWarpsOf<Lanes>];
  constexpr Shape kShape = {Lanes, Unroll, Rows};  // which a kernel's template cannot take
  const int lane = threadIdx.x % Lanes;
  const int64_t first_row =
      int64_t(blockIdx.x) * kShape.rows_per_block() + threadIdx.x / Lanes * Rows;
  float sum[Rows];
  sum_rows<T, kShape, Congruent>(args, first_row, lane, INT64_MAX, sum);
  put_totals<Lanes>(sum, lane, first_row, of_warps, [&](int64_t row, float total) {
    if (row < args.rows) finish<T>(args, row, total);
  });
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "multiplies f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0) return Status::ok();
  const bool congruent = is_congruent(a);
  const Shape shape = shape_for(a, congruent);
  return with_float_type(a.dtype, [&](auto t) {
    with_shape(shape, congruent, [&](auto at, auto is_congruent) {
      constexpr Shape kShape = decltype(at)::value;
      const int64_t blocks = (a.rows + kShape.rows_per_block() - 1) / kShape.rows_per_block();
      gemv_shifted_x<decltype(t), kShape.lanes, kShape.unroll, kShape.rows, is_congruent.value>
          <<<unsigned(blocks), kShape.threads(), 0, stream>>>(a);
    });
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "x shifted together for rows that lie anywhere",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 0.375, .conflict_free = true}};

}  // namespace ridge::gemv::shifted_x
