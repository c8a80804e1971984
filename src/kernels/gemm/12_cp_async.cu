// gemm rung 12, cp_async: while a step is multiplied, the copies of the next one are under way.
//
// Since 11_warp_tile: shared memory has room for two steps, and cp.async fills one of them, without
//   passing through registers, while the other one is multiplied. One barrier per step is enough:
//   it says that the copies have arrived and that the other buffer is free again. Elements outside
//   of the matrix are copies of nothing, which write zeros. A slab that lies along k is turned by
//   copying single elements.
// Stops at: the multiply units, where the matrices are large. What is left are the copies'
//   addresses and 4 loads for every 64 multiply-adds.
// Not for: matrices that make few tiles of 128 by 128.
#include "device/ptx/cp_async.cuh"
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/warp_tile.cuh"

namespace ridge::gemm::cp_async {

constexpr int kEdge = WarpTile::kEdge, kPitch = WarpTile::kPitch, kThreads = WarpTile::kThreads;
constexpr int kDepth = 8;
constexpr int kBuffers = 2;

// Asks for the levels k … k + kDepth - 1 of a slab; level i begins at to + i * kPitch.
__device__ __forceinline__ void copy_slab(const Slab& from, int64_t k, float* to) {
  constexpr int kPasses = kEdge * kDepth / 4 / kThreads;
  static_assert(kPasses == 1);
  const int i = int(threadIdx.x);
  if (from.is_along_x()) {
    const int x = i % (kEdge / 4) * 4, level = i / (kEdge / 4);
    const float* const first = from.at(x, k + level);
    const bool is_level = k + level < from.ks;
    float* const place = to + level * kPitch + x;
    if (is_pack_aligned(first) && x + 3 < from.xs) {
      ptx::copy_async_16(place, is_level ? first : from.data, is_level);
      return;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const bool is_there = is_level && x + j < from.xs;
      ptx::copy_async_4(place + j, is_there ? first + j : from.data, is_there);
    }
    return;
  }
  // 8 levels of 32 rows or columns per pass: a sector for each of them.
  const int level = i % kDepth;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int x = i / kDepth + j * (kThreads / kDepth);
    const bool is_there = x < from.xs && k + level < from.ks;
    ptx::copy_async_4(to + level * kPitch + x, is_there ? from.at(x, k + level) : from.data,
                      is_there);
  }
}

__global__ void __launch_bounds__(kThreads, 2) gemm_cp_async(Args args) {
  __shared__ alignas(16) float tile_a[kBuffers][kDepth][kPitch];  // (k, row)
  __shared__ alignas(16) float tile_b[kBuffers][kDepth][kPitch];  // (k, col)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const Slab a = slab_of_a(args, tile.row);
  const Slab b = slab_of_b(args, tile.col);
  const auto copy = [&](int64_t k, int buffer) {
    copy_slab(a, k, tile_a[buffer][0]);
    copy_slab(b, k, tile_b[buffer][0]);
    ptx::commit_async_copies();
  };
  WarpTile mine;
  if (args.k > 0) copy(0, 0);
  int buffer = 0;
  for (int64_t k = 0; k < args.k; k += kDepth, buffer ^= 1) {
    ptx::wait_for_async_copies<0>();
    __syncthreads();  // all copies of this step are there, and the other buffer has been read
    if (k + kDepth < args.k) copy(k + kDepth, buffer ^ 1);
#pragma unroll
    for (int i = 0; i < kDepth; ++i) mine.add(tile_a[buffer][i], tile_b[buffer][i]);
  }
  mine.put(Results<float>(args), tile);
}

static Support supports(const Args& a, const DeviceInfo&) { return only_f32(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    gemm_cp_async<<<grid, kThreads, 0, stream>>>(part);
  });
}
constinit const Rung rung = {
    .idea = "copies of the next step behind this one's products",
    .supports = supports,
    .launch = launch,
    .claims = {.global_stores_per_element = 0.25, .barriers = 32, .conflict_free = true}};

}  // namespace ridge::gemm::cp_async
