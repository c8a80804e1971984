// gemm rung 06, corner_turning: threads read along whichever dimension of a and b is contiguous,
// and turn the tile on its way into shared memory.
//
// Since 05_thread_coarsening: how a matrix lies decides which elements of its tile the threads
//   load, so all four transpositions read global memory coalesced. The rows of the shared tiles are
//   longer, so that columns can be written with few bank conflicts: by one element for b; by four
//   for a, whose rows are read in packs of 16 bytes.
// Stops at: shared memory, as 05: the inner loop is the same.
// Not for: b by rows. On an H200 (4096 x 4096 x 4096) this rung takes 8 to 19 % more time than 05
//   there, and 13 to 20 % less where b is transposed.
#include "kernels/gemm/elements_of_tile.cuh"
#include "kernels/gemm/launch.cuh"

namespace ridge::gemm::corner_turning {

constexpr int kEdge = 32;
constexpr int kThreads = kEdge * kEdge;
constexpr int kTiles = 4;  // that a block makes, and elements that a thread makes
constexpr int kCols = kTiles * kEdge;

__global__ void __launch_bounds__(kThreads) gemm_corner_turning(Args args) {
  __shared__ alignas(16) float tile_a[kEdge][kEdge + 4];  // (row, k)
  __shared__ float tile_b[kEdge][kCols + 1];              // (k, col)
  const auto a = matrix_a<float>(args);                   // (m, k)
  const auto b = matrix_b<float>(args);                   // (k, n)
  const TilePlace tile = tile_place(args, kEdge, kCols);
  const int row = int(threadIdx.x) / kEdge, col = int(threadIdx.x) % kEdge;
  float sums[kTiles] = {};
  for (int64_t k = 0; k < args.k; k += kEdge) {
    elements_of_tile<kEdge, kEdge, kThreads>(
        a, tile.row, k, [&](int r, int c, float value) { tile_a[r][c] = value; });
    elements_of_tile<kEdge, kCols, kThreads>(
        b, k, tile.col, [&](int r, int c, float value) { tile_b[r][c] = value; });
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kEdge; ++i) {
      const float x = tile_a[row][i];
#pragma unroll
      for (int t = 0; t < kTiles; ++t) sums[t] = fmaf(x, tile_b[i][t * kEdge + col], sums[t]);
    }
    __syncthreads();
  }
  const Results<float> results(args);
#pragma unroll
  for (int t = 0; t < kTiles; ++t) results.put(tile.row + row, tile.col + t * kEdge + col, sums[t]);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return launch_tiles(args, kEdge, kCols, [&](const Args& part, dim3 grid) {
    gemm_corner_turning<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {.idea = "coalesced loads in every transposition",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 256. / 32 + 256. / 128,
                                        .global_stores_per_element = 1,
                                        .barriers = 16,
                                        .conflict_free = true}};

}  // namespace ridge::gemm::corner_turning
