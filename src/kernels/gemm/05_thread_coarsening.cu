// gemm rung 05, thread_coarsening: a thread makes four elements of d, 32 columns apart, and so a
// block makes four tiles side by side.
//
// Since 04_dynamic_shared: the four results of a thread need the same element of a, so one load of
//   it serves four multiply-adds: 5 loads for 4 of them, not 8. The tile of a is also read from
//   global memory a quarter as often. (The depth is fixed again: 32.)
// Stops at: shared memory still, at 1.25 loads for each multiply-add.
// Not for: a or b transposed, and d of few columns: a block makes 128 of them.
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm::thread_coarsening {

constexpr int kEdge = 32;
constexpr int kThreads = kEdge * kEdge;
constexpr int kTiles = 4;  // that a block makes, and elements that a thread makes
constexpr int kCols = kTiles * kEdge;

__global__ void __launch_bounds__(kThreads) gemm_thread_coarsening(Args args) {
  __shared__ float tile_a[kEdge][kEdge];  // (row, k)
  __shared__ float tile_b[kEdge][kCols];  // (k, col)
  const auto a = matrix_a<float>(args);   // (m, k)
  const auto b = matrix_b<float>(args);   // (k, n)
  const TilePlace tile = tile_place(args, kEdge, kCols);
  const int row = int(threadIdx.x) / kEdge, col = int(threadIdx.x) % kEdge;
  float sums[kTiles] = {};
  for (int64_t k = 0; k < args.k; k += kEdge) {
    tile_a[row][col] = a.or_zero(tile.row + row, k + col);
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
      tile_b[row][t * kEdge + col] = b.or_zero(k + row, tile.col + t * kEdge + col);
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
    gemm_thread_coarsening<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {.idea = "four results per thread share an element of a",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 256. / 32 + 256. / 128,
                                        .global_stores_per_element = 1,
                                        .barriers = 16,
                                        .conflict_free = true}};

}  // namespace ridge::gemm::thread_coarsening
