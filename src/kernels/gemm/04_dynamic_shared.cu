// gemm rung 04, dynamic_shared: the tiles are as deep as the device's shared memory allows, which
// is known at the launch and not to the compiler.
//
// Since 03_shared_tile: shared memory is asked for at the launch. A static array has at most 48 KB;
//   what lies beyond that (227 KB per block on Hopper) is only for launches that ask for it. Tiles
//   that are 13 times as deep need a thirteenth of the barriers.
// Stops at: shared memory, as before: two loads for each multiply-add. Deeper tiles change how
//   often threads wait for each other, not how much they load.
// Not for: short sums. The tiles are never deeper than k.
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm::dynamic_shared {

constexpr int kEdge = 32;
constexpr int kThreads = kEdge * kEdge;
constexpr int kBlocksPerSm = 2;  // as many as 2048 threads are

__global__ void __launch_bounds__(kThreads) gemm_dynamic_shared(Args args, int depth) {
  extern __shared__ float tiles[];
  float* const tile_a = tiles;                  // (kEdge, depth)
  float* const tile_b = tiles + kEdge * depth;  // (depth, kEdge)
  const auto a = matrix_a<float>(args);         // (m, k)
  const auto b = matrix_b<float>(args);         // (k, n)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const int row = int(threadIdx.x) / kEdge, col = int(threadIdx.x) % kEdge;
  float sum = 0;
  for (int64_t k = 0; k < args.k; k += depth) {
    for (int i = 0; i < depth; i += kEdge) {
      tile_a[row * depth + i + col] = a.or_zero(tile.row + row, k + i + col);
      tile_b[(i + row) * kEdge + col] = b.or_zero(k + i + row, tile.col + col);
    }
    __syncthreads();
#pragma unroll 32
    for (int i = 0; i < depth; ++i)
      sum = fmaf(tile_a[row * depth + i], tile_b[i * kEdge + col], sum);
    __syncthreads();
  }
  Results<float>(args).put(tile.row + row, tile.col + col, sum);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  constexpr int kBytesPerLevel = 2 * kEdge * int(sizeof(float));  // of depth
  const int room = device.shared_per_block_optin / kBlocksPerSm / kBytesPerLevel / kEdge * kEdge;
  const int depth =
      int(std::min<int64_t>(room, std::max<int64_t>(tiles_of(args.k, kEdge), 1) * kEdge));
  const int bytes = depth * kBytesPerLevel;
  const cudaError_t error =
      cudaFuncSetAttribute(gemm_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
  return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    gemm_dynamic_shared<<<grid, kThreads, size_t(bytes), stream>>>(part, depth);
  });
}
constinit const Rung rung = {.idea = "tiles as deep as shared memory allows",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2 * 256 / 32,
                                        .global_stores_per_element = 1,
                                        .barriers = 2,
                                        .conflict_free = true}};

}  // namespace ridge::gemm::dynamic_shared
