// gemm rung 10, conflict_free: no two lanes ask the same bank for different words.
//
// Since 09_vectors: a thread's 8 rows and 8 columns are two groups of 4, 64 apart, so the loads of
//   neighbouring threads are neighbours: 16 bytes apart, not 32. The rows of both shared tiles are
//   4 elements longer, so that the two packs of a row, turned on their way, fall into other banks.
// Stops at: loads that serve the same data again. The lanes of a warp form 2 rows of 16, so a warp
//   needs 8 rows of a and 64 columns of b for each k: 2 and 16 different packs, 4 and 2 times over.
// Not for: matrices that make few tiles of 128 by 128.
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/packs_of_tile.cuh"

namespace ridge::gemm::conflict_free {

constexpr int kEdge = 128;
constexpr int kDepth = 8;
constexpr int kPitch = kEdge + 4;
constexpr int kResults = 8;  // rows and columns of them, per thread
constexpr int kThreads = kEdge * kEdge / (kResults * kResults);
constexpr int kApart = kEdge / 2;  // the two groups of a thread

__global__ void __launch_bounds__(kThreads) gemm_conflict_free(Args args) {
  __shared__ alignas(16) float tile_a[kDepth][kPitch];  // (k, row)
  __shared__ alignas(16) float tile_b[kDepth][kPitch];  // (k, col)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const Slab a = slab_of_a(args, tile.row);
  const Slab b = slab_of_b(args, tile.col);
  const int row = int(threadIdx.x) / (kEdge / kResults) * 4;
  const int col = int(threadIdx.x) % (kEdge / kResults) * 4;
  float sums[kResults][kResults / 4][4] = {};
  for (int64_t k = 0; k < args.k; k += kDepth) {
    load_slab<kEdge, kDepth, kPitch, kThreads>(a, k, tile_a[0]);
    load_slab<kEdge, kDepth, kPitch, kThreads>(b, k, tile_b[0]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      Pack<float> x[2], y[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        x[half] = load_pack(&tile_a[i][row + kApart * half]);
        y[half] = load_pack(&tile_b[i][col + kApart * half]);
      }
#pragma unroll
      for (int r = 0; r < kResults; ++r)
#pragma unroll
        for (int c = 0; c < kResults; ++c)
          sums[r][c / 4][c % 4] = fmaf(x[r / 4][r % 4], y[c / 4][c % 4], sums[r][c / 4][c % 4]);
    }
    __syncthreads();
  }
  const Results<float> results(args);
#pragma unroll
  for (int r = 0; r < kResults; ++r)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      put_pack(results, tile.row + row + r / 4 * kApart + r % 4, tile.col + col + kApart * half,
               sums[r][half]);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    gemm_conflict_free<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {.idea = "no bank conflicts, neither in writes nor in reads",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2 * 256. / 128 / 4,
                                        .global_stores_per_element = 0.25,
                                        .barriers = 64,
                                        .conflict_free = true}};

}  // namespace ridge::gemm::conflict_free
