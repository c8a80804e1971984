// gemm rung 33, cluster_sums: f32 tiles are few, so the blocks of a cluster share the sum of each.
//
// Since 29_small_tiles: a sum is split among up to eight blocks of a cluster, so that more SMs
//   multiply. Each block leaves its part in shared memory; then every block adds up a share of the
//   rows from all of them, always in the same order. Rung 19 splits sums, too, but needs a turned
//   copy of the operands and a second kernel that adds the parts: three launches, of which each one
//   waits for the one before. Here one launch reads the operands as they lie.
// Stops at: shared memory, as rung 29, and the start of a launch where products are small.
// Not for: large matrices, whose tiles keep all SMs busy without a split.
#include "device/ptx/cluster.cuh"
#include "kernels/gemm/hopper.cuh"
#include "kernels/gemm/small_tile.cuh"
#include "kernels/gemm/variants.cuh"

namespace ridge::gemm::cluster_sums {

using namespace small_tile;

// Where four neighbours of a tile's row lie in shared memory. Eight lanes write eight rows that are
// four apart, or read one row: both hit all banks once.
__device__ __forceinline__ int place(int row, int col) {
  return row * S::kCols + (col ^ row / 4 % 8 * 4);
}
static_assert(S::kRows * S::kCols <= 2 * kStep);

__device__ __forceinline__ void leave_sums(const Sums<S>& sums, float* shared) {
  const int warp = int(threadIdx.x) / 32;
  constexpr int kWarpsAcross = S::kCols / S::kWarpCols;
  const int row = warp / kWarpsAcross * S::kWarpRows, col = warp % kWarpsAcross * S::kWarpCols;
  sums.each_pack([&](int r, int c, const float(&four)[4]) {
    *reinterpret_cast<Pack<float>*>(shared + place(row + r, col + c)) = {four[0], four[1], four[2],
                                                                         four[3]};
  });
}

// Adds up this block's share of the rows.
__device__ __forceinline__ void put_share(const Args& args, const Unit& unit, const float* shared) {
  const Results<float> results(args, unit.batch);
  const int blocks = int(cluster_size()), rank = int(cluster_rank());
  constexpr int kPacks = S::kRows * S::kCols / 4;
  for (int i = kPacks * rank / blocks + int(threadIdx.x); i < kPacks * (rank + 1) / blocks;
       i += S::kThreads) {
    const int row = i / (S::kCols / 4), col = i % (S::kCols / 4) * 4;
    const auto* const here = reinterpret_cast<const float4*>(shared + place(row, col));
    float sums[4] = {};
    for (int from = 0; from < blocks; ++from) {
      const float4 part = load_from_cluster(here, unsigned(from));
      sums[0] += part.x, sums[1] += part.y, sums[2] += part.z, sums[3] += part.w;
    }
    if (results.c.has(unit.row + row, unit.col + col))
      put_pack(results, unit.row + row, unit.col + col, sums);
  }
}

template <class CopyA, class CopyB>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_cluster_sums(const __grid_constant__ Args args,
                      const __grid_constant__ Division division) {
  __shared__ alignas(16) float shared[2 * kStep];
  const int blocks = int(cluster_size()), rank = int(cluster_rank());
  Unit unit = unit_of_tile<S>(args, division, int64_t(blockIdx.x) / blocks);
  const auto first_level = [&](int of) {
    return min(args.k, int64_t(division.steps) * of / blocks * S::kDepth);
  };
  unit.first_k = first_level(rank);
  unit.end_k = first_level(rank + 1);
  Sums<S> sums;
  sum_products<CopyA, CopyB>(args, unit, shared, sums);
  __syncthreads();  // all warps have read their factors
  leave_sums(sums, shared);
  cluster_arrive();
  cluster_wait();
  put_share(args, unit, shared);
  cluster_arrive_relaxed();  // no block leaves while another one reads its sums
  cluster_wait();
}

constexpr int kSplits[] = {2, 3, 4, 6, 8};
constexpr const char* kNames[] = {"2", "3", "4", "6", "8"};

// Microseconds on an H200: of a launch, as in rung 27; of a step of a full SM and of a tile's start
// and end, as in rung 29. Nothing of this rung was measured, so it has to be better by a tenth than
// rungs which were.
constexpr auto kGuessed = [] {
  constexpr double kNotMeasured = 1.1, kLaunchUs = 5.5, kOfEachBlockUs = 0.5;
  std::array<Constants, std::size(kNames)> all = {};
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = {kNotMeasured * (kLaunchUs + kOfEachBlockUs * (kSplits[i] - 1)),
              kNotMeasured * kStepUs.x_x, kNotMeasured * kTileUs};
  return all;
}();
constexpr TunedVariants kTuned("gemm", "cluster_sums", kNames, kGuessed);

// The SM with most blocks is the last one to end. The more blocks it has, the longer their steps.
static Terms variant_terms(const Args& args, const DeviceInfo& device, int variant) {
  const int splits = kSplits[variant];
  const Division division = whole_tiles<S>(args);
  if (division.steps < splits) return kImpossible;
  const auto on_an_sm = double(tiles_of(division.whole * splits, device.sm_count));
  const double share_of_full = std::max(kFewStep, on_an_sm / S::kBlocksPerSm);
  const double steps = double(tiles_of(division.steps, splits));
  return {.counts = {1, steps * share_of_full * step_us(args) / kStepUs.x_x, 1},
          .memory_us = streaming_us({0, 0.7}, bytes(args), device)};
}
static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return predicted_us(variant_terms(args, device, variant), kTuned.of(device, variant));
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = only_f32(a); !s) return s;
  if (device.major < 9) return "needs clusters, which are there from Hopper on";
  return tiles_of_all<S>(a) * kSplits[std::size(kSplits) - 1] < int64_t(1) << 31
             ? kSupported
             : "has 2^28 tiles or more";
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  const Division division = whole_tiles<S>(args);
  const int splits = kSplits[chosen_variant(args, device, kNames, variant_cost)];
  return with_copies(args, [&]<class A, class B>(std::type_identity<A>, std::type_identity<B>) {
    return hopper::launch_kernel(gemm_cluster_sums<A, B>, unsigned(division.whole * splits),
                                 S::kThreads, splits, 0, stream, args, division);
  });
}
constinit const Rung rung = {.idea = "few small tiles: blocks of a cluster share a sum",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .variant_terms = variant_terms,
                             .claims = {.global_stores_per_element = 0.25, .conflict_free = true}};

}  // namespace ridge::gemm::cluster_sums
