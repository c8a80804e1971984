// f32 tiles of 64 by 64 from operands as they lie, two warps each: what `small_tiles` and
// `cluster_sums` share.
#pragma once

#include "kernels/gemm/aligned_copy.cuh"
#include "kernels/gemm/simt_tile.cuh"
#include "kernels/gemm/tile_copy.cuh"
#include "kernels/gemm/tile_cost.cuh"

namespace ridge::gemm::small_tile {

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

// Tiles are square, so that a and b are copied the same way. Calls f(copy of a, copy of b), of
// which only the types count.
template <class F>
auto with_copies(const Args& args, F f) {
  static_assert(S::kRows == S::kCols);
  using AlongX = std::type_identity<TileAlongX<S::kRows, S::kDepth, kPitch, S::kThreads>>;
  using AlongK = std::type_identity<TileAlongK<S::kRows, S::kDepth, kPitch, S::kThreads>>;
  const bool b = b_is_along_x(args);
  if (a_is_along_x(args)) return b ? f(AlongX(), AlongX()) : f(AlongX(), AlongK());
  return b ? f(AlongK(), AlongX()) : f(AlongK(), AlongK());
}

// Microseconds on an H200, 2026-11-18: of a step on a full SM, and of a tile's start and end.
constexpr ByTransposition kStepUs = {
    .x_x = 2.0, .x_depth = 2.34, .depth_x = 2.28, .depth_depth = 2.78};
constexpr double kTileUs = 4.4;
constexpr double kAskew = 1.43;    // times as long, where 16 bytes at once are not possible
constexpr double kFewStep = 0.49;  // of that time, where an SM has no more than two blocks

inline double step_us(const Args& args) {
  return kStepUs.of(args) * (AlignedOperands(args).bytes() > 0 ? kAskew : 1);
}
inline TilePace pace(const Args& args) {
  const double step = step_us(args);
  return {.per_sm = S::kBlocksPerSm,
          .few = 2,
          .step = step,
          .few_step = kFewStep * step,
          .tile = kTileUs};
}

}  // namespace ridge::gemm::small_tile
