// axis_reduce rung 04, column_tiles: lanes are neighbouring columns, warps share the axis.
//
// Since 03_warp_per_row: if the axis is not innermost, the load of a warp brings 32 neighbours of
//   one step instead of 32 steps of one column, so every byte of a sector is used.
// Stops at: bytes in flight, one element per lane; lanes, if there are fewer than 32 columns;
//   blocks, if there are few columns and a long axis. argmax stops at shared memory: it keeps a
//   value and its index in 16 bytes, so that lanes conflict in the banks.
// Not for: an innermost axis: neighbouring columns are then whole rows apart, and a sector serves
//   only one lane.
#include "kernels/axis_reduce/operators.cuh"

namespace ridge::axis_reduce::column_tiles {

constexpr int kColumns = 32, kWarps = 8;

template <class Op, class T, class Out>
__global__ void __launch_bounds__(kColumns* kWarps)
    reduce_column_tiles(Op op, Args a, int64_t tiles_a_row) {
  using Acc = reduction::AccOf<Op>;
  __shared__ Acc of_warp[kWarps][kColumns];
  const int64_t o = blockIdx.x / tiles_a_row, tile = blockIdx.x % tiles_a_row;
  const int64_t i = tile * kColumns + threadIdx.x;
  const int warp = int(threadIdx.y);
  Acc acc = op.identity();
  if (i < a.inner)
    acc = walk(op, a, static_cast<const T*>(a.x) + o * a.outer_stride + i, warp, kWarps);
  of_warp[warp][threadIdx.x] = acc;
  __syncthreads();
  if (warp != 0 || i >= a.inner) return;
  for (int w = 1; w < kWarps; ++w) acc = op.combine(acc, of_warp[w][threadIdx.x]);
  static_cast<Out*>(a.out)[o * a.out_stride + i] = reduction::finished<Out>(op, acc, a.axis);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (a.inner == 1) return "has a lane for every column, and there is one column";
  return supports_all(a, device);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t tiles_a_row = (a.inner + kColumns - 1) / kColumns;
  if (a.outer * tiles_a_row == 0) return Status::ok();
  return with_operator(a, [&](auto op, auto t, auto result) {
    reduce_column_tiles<decltype(op), decltype(t), decltype(result)>
        <<<unsigned(a.outer * tiles_a_row), dim3(kColumns, kWarps), 0, stream>>>(op, a,
                                                                                 tiles_a_row);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "lanes are columns, warps share the axis",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 1, .barriers = 1, .conflict_free = true}};

}  // namespace ridge::axis_reduce::column_tiles
