// gemm rung 29, small_tiles: f32 tiles of 64 by 64, from operands as they lie.
//
// Since 18_autotuned: where matrices are small, turned copies of them take as long as the products.
//   Here threads bring each slab, by cp.async or turned through registers, as in 12_cp_async. Six
//   blocks of two warps fit on an SM: while some of them begin or end, the others multiply. The
//   loop over levels is that of rung 18. It has two levels only: in it, ptxas keeps the order of
//   the multiply-adds, in which their operands come from different register banks (simt_tile.cuh).
// Stops at: shared memory. A small tile loads more factors for each product than a large one.
// Not for: large matrices (18 and 19 on Hopper, 12 on other GPUs).
#include "kernels/gemm/aligned_copy.cuh"
#include "kernels/gemm/simt_tile.cuh"
#include "kernels/gemm/tile_copy.cuh"
#include "kernels/gemm/tile_cost.cuh"

namespace ridge::gemm::small_tiles {

using namespace simt;

using S = Shape<64, 64, 16, 64, 32, 6>;
// Levels of a and b lie in turn. 4 more elements keep turned stores free of bank conflicts.
constexpr int kPitch = S::kRows + S::kCols + 4;
constexpr int kStep = S::kDepth * kPitch;  // elements of a buffer

template <class CopyA, class CopyB>
__device__ __forceinline__ void sum_products(const Args& args, const Unit& unit, float* shared,
                                             Sums<S>& sums) {
  const auto a = matrix<float>(args.a, args.m, args.k, unit.batch);
  const auto b = matrix<float>(args.b, args.k, args.n, unit.batch);
  const int64_t ks = unit.end_k - unit.first_k;
  CopyA copy_a({a.at(unit.row, unit.first_k), a.row_step, a.col_step, args.m - unit.row, ks});
  CopyB copy_b({b.at(unit.first_k, unit.col), b.col_step, b.row_step, args.n - unit.col, ks});
  const auto ask = [&](int64_t k, int buffer) {
    copy_a.ask(k, shared + buffer * kStep);
    copy_b.ask(k, shared + buffer * kStep + S::kRows);
    ptx::commit_async_copies();
  };
  const auto arrive = [&](int buffer) {
    copy_a.put(shared + buffer * kStep);
    copy_b.put(shared + buffer * kStep + S::kRows);
    ptx::wait_for_async_copies<0>();
    __syncthreads();  // all copies of a step are there, and the other buffer has been read
  };
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  constexpr int kWarpsAcross = S::kCols / S::kWarpCols;
  const int x = warp / kWarpsAcross * S::kWarpRows + lane % S::kLanesDown * 4;
  const int y = S::kRows + warp % kWarpsAcross * S::kWarpCols + lane / S::kLanesDown * 4;

  if (ks <= 0) return;
  ask(0, 0);
  arrive(0);
  Factors<S> even, odd;
  const float* level_a = shared + x;
  const float* level_b = shared + y;
  even.load(level_a, level_b);
  int buffer = 0;
  for (int64_t k = 0; k < ks; k += S::kDepth) {
    const bool goes_on = k + S::kDepth < ks;
    if (goes_on) ask(k + S::kDepth, buffer ^ 1);
#pragma unroll 1
    for (int level = 2; level < S::kDepth; level += 2) {
      odd.load(level_a + kPitch, level_b + kPitch);
      sums.multiply(even);
      level_a += 2 * kPitch;
      level_b += 2 * kPitch;
      even.load(level_a, level_b);
      sums.multiply(odd);
    }
    odd.load(level_a + kPitch, level_b + kPitch);
    sums.multiply(even);
    if (goes_on) {
      buffer ^= 1;
      arrive(buffer);
      level_a = shared + buffer * kStep + x;
      level_b = shared + buffer * kStep + y;
      even.load(level_a, level_b);
    }
    sums.multiply(odd);
  }
}

template <class CopyA, class CopyB>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_small_tiles(const __grid_constant__ Args args, const __grid_constant__ Division division) {
  __shared__ alignas(16) float shared[2 * kStep];
  const Unit unit = unit_of_tile<S>(args, division, blockIdx.x);
  Sums<S> sums;
  sum_products<CopyA, CopyB>(args, unit, shared, sums);
  put_unit(args, division, unit, sums, shared);
}

// Tiles are square, so that a and b are copied the same way.
using AlongX = TileAlongX<S::kRows, S::kDepth, kPitch, S::kThreads>;
using AlongK = TileAlongK<S::kRows, S::kDepth, kPitch, S::kThreads>;
static_assert(S::kRows == S::kCols);

static auto kernel_for(const Args& args) {
  const bool b = b_is_along_x(args);
  if (a_is_along_x(args))
    return b ? gemm_small_tiles<AlongX, AlongX> : gemm_small_tiles<AlongX, AlongK>;
  return b ? gemm_small_tiles<AlongK, AlongX> : gemm_small_tiles<AlongK, AlongK>;
}

// On an H200, 2026-11-18.
constexpr ByTransposition kStepUs = {
    .x_x = 2.0, .x_depth = 2.34, .depth_x = 2.28, .depth_depth = 2.78};
constexpr double kAskew = 1.43;  // times as long, where 16 bytes at once are not possible

static double cost(const Args& args, const DeviceInfo& device) {
  const double step = kStepUs.of(args) * (AlignedOperands(args).bytes() > 0 ? kAskew : 1);
  const TilePace pace = {
      .per_sm = S::kBlocksPerSm, .few = 2, .step = step, .few_step = 0.49 * step, .tile = 4.4};
  const int64_t tiles = args.batch * tiles_of(args.m, S::kRows) * tiles_of(args.n, S::kCols);
  return 2.0 + turns_us(pace, tiles, tiles_of(args.k, S::kDepth), device);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (const Support s = only_f32(a); !s) return s;
  return has_grid<S>(a);
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  const Division division = whole_tiles<S>(args);
  kernel_for(args)<<<unsigned(division.whole), S::kThreads, 0, stream>>>(args, division);
  return launch_status();
}
constinit const Rung rung = {
    .idea = "small tiles; multiply-adds in the order of the banks",
    .supports = supports,
    .launch = launch,
    .cost = cost,
    .claims = {.global_stores_per_element = 0.25, .barriers = 16, .conflict_free = true}};

}  // namespace ridge::gemm::small_tiles
