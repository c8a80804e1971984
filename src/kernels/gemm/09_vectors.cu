// gemm rung 09, vectors: 16 bytes per load, from global and from shared memory; for that, a lies
// transposed in shared memory.
//
// Since 08_tile_2d: each thread needs 8 elements of a for one k, and they are neighbours now, so
//   both operands take two loads each, of 16 bytes: 4 loads for 64 multiply-adds instead of 16.
//   Global loads and the stores of d have 16 bytes as well. Packs that cross an edge, or lie
//   askew, are read element by element.
// Stops at: bank conflicts. Neighbouring threads are 8 elements apart, so half of the banks are
//   asked twice, and the transposed tile is written with conflicts, too.
// Not for: matrices whose rows are not multiples of 16 bytes apart: each pack is then four loads.
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/packs_of_tile.cuh"

namespace ridge::gemm::vectors {

constexpr int kEdge = 128;
constexpr int kDepth = 8;
constexpr int kResults = 8;  // rows and columns of them, per thread
constexpr int kThreads = kEdge * kEdge / (kResults * kResults);

__global__ void __launch_bounds__(kThreads) gemm_vectors(Args args) {
  __shared__ alignas(16) float tile_a[kDepth][kEdge];  // (k, row)
  __shared__ alignas(16) float tile_b[kDepth][kEdge];  // (k, col)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const Slab a = slab_of_a(args, tile.row);
  const Slab b = slab_of_b(args, tile.col);
  const int row = int(threadIdx.x) / (kEdge / kResults) * kResults;
  const int col = int(threadIdx.x) % (kEdge / kResults) * kResults;
  float sums[kResults][kResults / 4][4] = {};
  for (int64_t k = 0; k < args.k; k += kDepth) {
    load_slab<kEdge, kDepth, kEdge, kThreads>(a, k, tile_a[0]);
    load_slab<kEdge, kDepth, kEdge, kThreads>(b, k, tile_b[0]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      Pack<float> x[2], y[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        x[half] = load_pack(&tile_a[i][row + 4 * half]);
        y[half] = load_pack(&tile_b[i][col + 4 * half]);
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
      put_pack(results, tile.row + row + r, tile.col + col + 4 * half, sums[r][half]);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    gemm_vectors<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {.idea = "16 bytes per load; a lies transposed in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2 * 256. / 128 / 4,
                                        .global_stores_per_element = 0.25,
                                        .barriers = 64}};

}  // namespace ridge::gemm::vectors
