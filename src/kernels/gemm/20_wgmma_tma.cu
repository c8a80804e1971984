// gemm rung 20, wgmma_tma: one warpgroup multiplies tiles that the copy engine brings.
//
// Since 15_mma_sync: one instruction of four warps makes 64 by 256 by 16 products, straight from
//   tiles in shared memory: no fragments pass through registers. One thread asks the copy engine
//   for whole tiles, which arrive swizzled as wgmma wants them; no other thread computes an
//   address. Elements outside of the matrices arrive as zeros.
// Stops at: waiting. Copies and products take turns, with a barrier after each.
// Not for: matrices that the copy engine cannot reach: rows not at multiples of 16 bytes.
#include "kernels/gemm/hopper.cuh"

namespace ridge::gemm::wgmma_tma {

using namespace hopper;
using T = __nv_bfloat16;

struct Shared {
  alignas(kAlignment) char a[kRows * kDepth * sizeof(T)];
  alignas(kAlignment) char b[kCols * kDepth * sizeof(T)];
  uint64_t arrived;
};

template <class A, class B>
__global__ void __launch_bounds__(kWarpgroup, 1)
    gemm_wgmma_tma(const __grid_constant__ Maps maps, const Args args) {
  Shared& shared = aligned_shared<Shared>();
  const auto down = unsigned((args.m + kRows - 1) / kRows);
  const auto across = unsigned((args.n + kCols - 1) / kCols);
  const unsigned of_product = blockIdx.x % (down * across);
  const TileAt tile = {int(of_product / across) * kRows, int(of_product % across) * kCols,
                       int(blockIdx.x / (down * across))};
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&shared.arrived, 1);
    ptx::mbarrier_init_done();
  }
  __syncthreads();
  float sums[128];
  uint32_t phase = 0;
  for (int k = 0; k < args.k; k += kDepth, phase ^= 1) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect(&shared.arrived, A::kBytes + B::kBytes);
      A::load(shared.a, &maps.a, tile.row, k, tile.batch, &shared.arrived);
      B::load(shared.b, &maps.b, tile.col, k, tile.batch, &shared.arrived);
    }
    ptx::mbarrier_wait(&shared.arrived, phase);
    ptx::wgmma_fence();
    multiply<T, A, B>(shared.a, 0, shared.b, k > 0, sums);
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    __syncthreads();  // everybody has read the tiles
  }
  put_sums<T>(args, tile, sums);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_lesson(a, device);
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  return with_majors(args, [&](auto a, auto b) -> Status {
    using A = WgmmaOperand<kRows, decltype(a)::value>;
    using B = WgmmaOperand<kCols, decltype(b)::value>;
    const auto maps = make_maps<A, B>(args);
    if (!maps) return maps.error();
    const int64_t tiles = tiles_of(args.m, kRows) * tiles_of(args.n, kCols) * args.batch;
    return launch_kernel(gemm_wgmma_tma<A, B>, unsigned(tiles), kWarpgroup, 1, kSharedBytes<Shared>,
                         stream, *maps, args);
  });
}
constinit const Rung rung = {.idea = "tensor cores on tiles that the copy engine brings",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 1 + 4}};

}  // namespace ridge::gemm::wgmma_tma
