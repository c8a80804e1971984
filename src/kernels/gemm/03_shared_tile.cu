// gemm rung 03, shared_tile: a block brings tiles of a and b to shared memory and multiplies them
// there.
//
// Since 02_coalesced: every element of a and b is loaded once per block, not once per thread that
//   needs it. A tile of 32 by 32 results reads global memory 32 times less often.
// Stops at: shared memory. Each multiply-add still needs two loads, now from there: 32 lanes read
//   one element of a and 32 of b, and shared memory serves one such load per clock. The multiply
//   units could do four of them meanwhile.
// Not for: a or b transposed. The lanes then walk across memory when they fill the tiles.
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm::shared_tile {

constexpr int kEdge = 32;
constexpr int kThreads = kEdge * kEdge;  // one for each element of a tile

__global__ void __launch_bounds__(kThreads) gemm_shared_tile(Args args) {
  __shared__ float tile_a[kEdge][kEdge];  // (row, k)
  __shared__ float tile_b[kEdge][kEdge];  // (k, col)
  const auto a = matrix_a<float>(args);   // (m, k)
  const auto b = matrix_b<float>(args);   // (k, n)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const int row = int(threadIdx.x) / kEdge, col = int(threadIdx.x) % kEdge;
  float sum = 0;
  for (int64_t k = 0; k < args.k; k += kEdge) {
    tile_a[row][col] = a.or_zero(tile.row + row, k + col);
    tile_b[row][col] = b.or_zero(k + row, tile.col + col);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kEdge; ++i) sum = fmaf(tile_a[row][i], tile_b[i][col], sum);
    __syncthreads();
  }
  Results<float>(args).put(tile.row + row, tile.col + col, sum);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    gemm_shared_tile<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {.idea = "tiles of a and b in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2 * 256 / 32,
                                        .global_stores_per_element = 1,
                                        .conflict_free = true}};

}  // namespace ridge::gemm::shared_tile
