// gemm rung 07, tile_1d: a thread makes eight elements of one column, and the tiles are flat.
//
// Since 06_corner_turning: one element of b, kept in a register, serves eight multiply-adds. Their
//   elements of a lie in rows of the tile that all lanes read together, and along k the compiler
//   reads four of them at once. 8 levels of depth instead of 32 leave room for more blocks.
// Stops at: shared memory, at 8 elements of a and one of b for 8 multiply-adds.
// Not for: matrices under 64 rows or columns: the block makes tiles of 64 by 64.
#include "kernels/gemm/elements_of_tile.cuh"
#include "kernels/gemm/launch.cuh"

namespace ridge::gemm::tile_1d {

constexpr int kEdge = 64;
constexpr int kDepth = 8;
constexpr int kResults = 8;  // per thread
constexpr int kThreads = kEdge * kEdge / kResults;

__global__ void __launch_bounds__(kThreads) gemm_tile_1d(Args args) {
  __shared__ alignas(16) float tile_a[kEdge][kDepth];  // (row, k)
  __shared__ float tile_b[kDepth][kEdge];              // (k, col)
  const auto a = matrix_a<float>(args);                // (m, k)
  const auto b = matrix_b<float>(args);                // (k, n)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const int row = int(threadIdx.x) / kEdge * kResults, col = int(threadIdx.x) % kEdge;
  float sums[kResults] = {};
  for (int64_t k = 0; k < args.k; k += kDepth) {
    elements_of_tile<kEdge, kDepth, kThreads>(
        a, tile.row, k, [&](int r, int c, float value) { tile_a[r][c] = value; });
    elements_of_tile<kDepth, kEdge, kThreads>(
        b, k, tile.col, [&](int r, int c, float value) { tile_b[r][c] = value; });
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      const float y = tile_b[i][col];
#pragma unroll
      for (int r = 0; r < kResults; ++r) sums[r] = fmaf(tile_a[row + r][i], y, sums[r]);
    }
    __syncthreads();
  }
  const Results<float> results(args);
#pragma unroll
  for (int r = 0; r < kResults; ++r) results.put(tile.row + row + r, tile.col + col, sums[r]);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    gemm_tile_1d<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {
    .idea = "eight results of a column per thread",
    .supports = supports,
    .launch = launch,
    .claims = {
        .global_loads_per_element = 2 * 256. / 64, .global_stores_per_element = 1, .barriers = 64}};

}  // namespace ridge::gemm::tile_1d
