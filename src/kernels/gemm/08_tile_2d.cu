// gemm rung 08, tile_2d: a thread makes 8 by 8 elements of d, in registers.
//
// Since 07_tile_1d: for each k, a thread loads 8 elements of a and 8 of b into registers and
//   multiplies each with each: 16 loads for 64 multiply-adds. A block makes 128 by 128 results, so
//   global memory is read half as often, too.
// Stops at: instructions that are no multiply-adds. Each load brings 4 bytes, and the loads of a
//   step wait for global memory while nobody multiplies.
// Not for: matrices that make few tiles of 128 by 128: 132 SMs want at least as many.
#include "kernels/gemm/elements_of_tile.cuh"
#include "kernels/gemm/launch.cuh"

namespace ridge::gemm::tile_2d {

constexpr int kEdge = 128;
constexpr int kDepth = 8;
constexpr int kResults = 8;  // rows and columns of them, per thread
constexpr int kThreads = kEdge * kEdge / (kResults * kResults);

__global__ void __launch_bounds__(kThreads) gemm_tile_2d(Args args) {
  __shared__ float tile_a[kEdge][kDepth];  // (row, k)
  __shared__ float tile_b[kDepth][kEdge];  // (k, col)
  const auto a = matrix_a<float>(args);    // (m, k)
  const auto b = matrix_b<float>(args);    // (k, n)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const int row = int(threadIdx.x) / (kEdge / kResults) * kResults;
  const int col = int(threadIdx.x) % (kEdge / kResults) * kResults;
  float sums[kResults][kResults] = {};
  for (int64_t k = 0; k < args.k; k += kDepth) {
    elements_of_tile<kEdge, kDepth, kThreads>(
        a, tile.row, k, [&](int r, int c, float value) { tile_a[r][c] = value; });
    elements_of_tile<kDepth, kEdge, kThreads>(
        b, k, tile.col, [&](int r, int c, float value) { tile_b[r][c] = value; });
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      float x[kResults], y[kResults];
#pragma unroll
      for (int r = 0; r < kResults; ++r) x[r] = tile_a[row + r][i];
#pragma unroll
      for (int c = 0; c < kResults; ++c) y[c] = tile_b[i][col + c];
#pragma unroll
      for (int r = 0; r < kResults; ++r)
#pragma unroll
        for (int c = 0; c < kResults; ++c) sums[r][c] = fmaf(x[r], y[c], sums[r][c]);
    }
    __syncthreads();
  }
  const Results<float> results(args);
#pragma unroll
  for (int r = 0; r < kResults; ++r)
#pragma unroll
    for (int c = 0; c < kResults; ++c)
      results.put(tile.row + row + r, tile.col + col + c, sums[r][c]);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    gemm_tile_2d<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {.idea = "8 by 8 results per thread, in registers",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2 * 256. / 128,
                                        .global_stores_per_element = 1,
                                        .barriers = 64}};

}  // namespace ridge::gemm::tile_2d
