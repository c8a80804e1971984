// Tiles in f32 whose slabs the copy engine brings, for operands with x contiguous: a by columns and
// b by rows. There every slab is a box of 16-byte packs, and no thread computes an address.
//
// Stages form a ring. One thread asks for a stage as soon as all warps have read it; a warp waits
// only for the bytes of its next stage. So there is no barrier of the block in the loop, and while
// one warp waits, the others multiply.
#pragma once

#include "device/ptx/elect.cuh"
#include "device/ptx/tma.cuh"
#include "device/ring.cuh"
#include "device/tensor_map.h"
#include "kernels/gemm/simt_tile.cuh"
#include "kernels/gemm/tile_cost.cuh"
#include "kernels/gemm/turned_copy.cuh"
#include "kernels/gemm/variants.cuh"

namespace ridge::gemm::simt {

constexpr int kStages = 3;

template <class S>
struct RingShape {
  static constexpr int kStage = S::kDepth * (S::kRows + S::kCols);  // elements
  static constexpr int kStageBytes = kStage * int(sizeof(float));
  static constexpr int kSharedBytes = kStages * kStageBytes + int(sizeof(Ring<kStages>));
  static constexpr int kWarps = S::kThreads / 32;
};

struct SlabMaps {
  CUtensorMap a, b;     // (x, k, batch)
  bool many_a, many_b;  // one matrix for each product, or one for all
};

// The ring, and where it goes on: at the next stage, after the stage before it.
template <class S>
struct SlabRing {
  float* stages;
  RingPlace<kStages> place = {}, before = {kStages - 1, 1};

  __device__ __forceinline__ Ring<kStages>& barriers() const {
    return *reinterpret_cast<Ring<kStages>*>(stages + kStages * RingShape<S>::kStage);
  }
};

// Adds up the products of a unit. All warps have left the stages of the unit before it.
template <class S>
__device__ __forceinline__ void sum_ring(const SlabMaps& maps, const Unit& unit, SlabRing<S>& at,
                                         Sums<S>& sums) {
  using R = RingShape<S>;
  Ring<kStages>& ring = at.barriers();
  const int steps = int((unit.end_k - unit.first_k + S::kDepth - 1) / S::kDepth);
  if (steps <= 0) return;
  const int batch_a = maps.many_a ? int(unit.batch) : 0;
  const int batch_b = maps.many_b ? int(unit.batch) : 0;
  const auto ask = [&](int step, int stage) {
    float* const to = at.stages + stage * R::kStage;
    const int k = int(unit.first_k) + step * S::kDepth;
    ptx::mbarrier_arrive_expect(&ring.full[stage], R::kStageBytes);
    ptx::tma_load(to, &maps.a, int(unit.row), k, batch_a, &ring.full[stage]);
    ptx::tma_load(to + S::kDepth * S::kRows, &maps.b, int(unit.col), k, batch_b, &ring.full[stage]);
  };
  const int warp = __shfl_sync(0xffffffff, int(threadIdx.x) / 32, 0);
  const int lane = int(threadIdx.x) % 32;
  if (warp == 0 && ptx::elect_one())
    for (int step = 0; step < kStages - 1 && step <= steps; ++step)
      ask(step, (at.place.stage + step) % kStages);

  constexpr int kWarpsAcross = S::kCols / S::kWarpCols;
  const int x = warp / kWarpsAcross * S::kWarpRows + lane % S::kLanesDown * 4;
  const int y =
      S::kDepth * S::kRows + warp % kWarpsAcross * S::kWarpCols + lane / S::kLanesDown * 4;
  const float* level_a = at.stages + at.place.stage * R::kStage + x;
  const float* level_b = at.stages + at.place.stage * R::kStage + y;
  Factors<S> even, odd;
  ptx::mbarrier_wait(&ring.full[at.place.stage], at.place.phase);
  even.load(level_a, level_b);
  RingPlace<kStages> place = at.place, before = at.before;
  int levels = S::kDepth;  // left of this stage
  int step = 0;
#pragma unroll 1
  for (;;) {
    odd.load(level_a + S::kRows, level_b + S::kCols);
    sums.multiply(even);
    level_a += 2 * S::kRows;
    level_b += 2 * S::kCols;
    levels -= 2;
    if (levels == 0) {
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(&ring.empty[place.stage]);
      // Most warps have read the stage before this one by now.
      if (warp == 0 && step + kStages - 1 <= steps) {
        if (step > 0) ptx::mbarrier_wait(&ring.empty[before.stage], before.phase);
        if (ptx::elect_one()) ask(step + kStages - 1, before.stage);
      }
      before = place;
      place.advance();
      ptx::mbarrier_wait(&ring.full[place.stage], place.phase);
      level_a = at.stages + place.stage * R::kStage + x;
      level_b = at.stages + place.stage * R::kStage + y;
      levels = S::kDepth;
      ++step;
    }
    even.load(level_a, level_b);
    sums.multiply(odd);
    if (step == steps) break;
  }
  even.keep();
  at.place = at.before = place;  // the last stage, of which nothing is used
  at.place.advance();
}

// A block has one tile, or a share of the steps that are dealt.
enum class Deal : uint8_t { whole_tiles, shares };
template <class S, Deal kDeal>
__global__ void __launch_bounds__(S::kThreads, S::kBlocksPerSm)
    gemm_simt_ring(const __grid_constant__ SlabMaps maps, const __grid_constant__ Args args,
                   const __grid_constant__ Division division) {
  extern __shared__ __align__(128) float ring_shared[];
  SlabRing<S> ring = {ring_shared};
  if (threadIdx.x == 0) ring.barriers().init(RingShape<S>::kWarps);
  __syncthreads();
  if (kDeal == Deal::whole_tiles || blockIdx.x < division.whole) {
    const Unit unit = unit_of_tile<S>(args, division, blockIdx.x);
    Sums<S> sums;
    sum_ring<S>(maps, unit, ring, sums);
    put_unit(args, division, unit, sums, ring_shared);
    return;
  }
  const int64_t worker = blockIdx.x - division.whole;
  const int64_t end = division.first_step(worker + 1);
#pragma unroll 1
  for (int64_t at = division.first_step(worker); at < end;) {
    const Unit unit = next_piece<S>(args, division, worker, at, end);
    Sums<S> sums;
    sum_ring<S>(maps, unit, ring, sums);
    put_unit(args, division, unit, sums, ring_shared);
    if (threadIdx.x % 32 == 0)  // also of the stage that nobody used
      ptx::mbarrier_arrive(&ring.barriers().empty[ring.before.stage]);
    __syncthreads();
  }
}

// --- Launches ---

// Of an operand with x contiguous, whose lines lie at multiples of 16 bytes.
inline Expected<CUtensorMap> slab_map(const Matrices& of, int64_t xs, int64_t ks, int64_t k_step,
                                      int64_t batch, int width, int depth) {
  constexpr auto kBytes = int64_t(sizeof(float));
  // A single line has no pitch, and a single matrix no step, but the copy engine asks for both.
  const int64_t pitch = ks > 1 ? k_step * kBytes : tiles_of(xs, 4) * 4 * kBytes;
  const bool is_many = batch > 1 && of.batch_step != 0;
  return make_tensor_map(
      {.base = of.data,
       .element_bytes = kBytes,
       .size = {uint64_t(xs), uint64_t(ks), uint64_t(is_many ? batch : 1)},
       .pitch = {uint64_t(pitch), uint64_t(is_many ? of.batch_step * kBytes : pitch)},
       .box = {uint32_t(width), uint32_t(depth), 1}});
}

// For operands that lie as AlongWidth puts them.
template <class S, Deal kDeal>
Status launch_ring(const Args& args, const Division& division, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  SlabMaps maps = {};
  if (args.k > 0) {  // otherwise nothing is brought
    const auto a =
        slab_map(args.a, args.m, args.k, args.a.col_step, args.batch, S::kRows, S::kDepth);
    if (!a) return a.error();
    const auto b =
        slab_map(args.b, args.n, args.k, args.b.row_step, args.batch, S::kCols, S::kDepth);
    if (!b) return b.error();
    maps = {*a, *b, args.a.batch_step != 0, args.b.batch_step != 0};
  }
  constexpr int kBytes = RingShape<S>::kSharedBytes;
  const auto kernel = gemm_simt_ring<S, kDeal>;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
  kernel<<<unsigned(division.whole + division.workers), S::kThreads, kBytes, stream>>>(maps, args,
                                                                                       division);
  if (const Status s = launch_status(); !s) return s;
  if constexpr (kDeal == Deal::whole_tiles) return Status::ok();
  else return launch_add<S>(args, division, stream);
}

inline Support supports_ring(const Args& a, const DeviceInfo& device) {
  if (const Support s = only_f32(a); !s) return s;
  if (device.major != 9) return "the copy engine needs a Hopper GPU";
  constexpr int64_t kMostSize = int64_t(1) << 31;  // coordinates are int
  if (a.m >= kMostSize || a.n >= kMostSize || a.k >= kMostSize || a.batch >= kMostSize)
    return "the copy engine takes sizes below 2^31";
  return has_grid<Shape<64, 64, 16, 64, 64, 8>>(a);  // the smallest of RingTiles
}

// --- Tiles, and their times ---

// A warp makes 64 by 64 results, and an SM holds 8 warps, whatever the tile.
template <int Rows, int Cols, int Depth>
using RingTile = Shape<Rows, Cols, Depth, 64, 64, 8 * 64 * 64 / (Rows * Cols)>;
using RingTiles = std::tuple<RingTile<256, 128, 32>, RingTile<128, 256, 32>, RingTile<64, 128, 16>,
                             RingTile<64, 64, 16>>;

// On an H200, 2026-11-18.
constexpr double kLaunchUs = 4.5;
struct RingPace {
  TilePace of;
  double slow;  // more of a tile, where results are not whole aligned packs of alpha times a sum
};
constexpr RingPace kRingPaces[] = {
    {{.per_sm = 1, .few = 0, .step = 4.82, .few_step = 4.82, .tile = 9.2}, 6.7},
    {{.per_sm = 1, .few = 0, .step = 4.82, .few_step = 4.82, .tile = 9.2}, 6.7},
    {{.per_sm = 4, .few = 2, .step = 2.52, .few_step = 1.36, .tile = 5.8}, 10.6},
    {{.per_sm = 8, .few = 4, .step = 2.525, .few_step = 1.36, .tile = 5.9}, 35.0}};
static_assert(std::size(kRingPaces) == std::tuple_size_v<RingTiles>);
constexpr ridge::Tuned kCopy = {3.0, 0.83};  // of one kernel that copies operands
constexpr ridge::Tuned kAdd = {1.0, 1.22};   // of partial sums, most of which stay in the L2 cache

// The share of tiles whose results pass through shared memory.
template <class S>
double slow_share(const Args& args, const Division& division) {
  const bool is_aligned = is_pack_aligned(args.d) && args.d_step % 4 == 0 &&
                          (args.batch <= 1 || args.d_batch_step % 4 == 0);
  if (args.beta != 0 || !is_aligned) return 1;
  const double inside = double(args.m / S::kRows) * double(args.n / S::kCols);
  return 1 - inside / (double(division.down) * division.across);
}

template <class S>
double ring_us(const Args& args, const Division& division, const RingPace& pace,
               const DeviceInfo& device) {
  if (is_empty(args)) return kLaunchUs;
  TilePace whole = pace.of;
  whole.tile += slow_share<S>(args, division) * pace.slow;
  double us = kLaunchUs + turns_us(whole, division.whole, division.steps, device);
  if (division.cut > 0)
    us +=
        turns_us(pace.of, division.workers, division.longest_share(), device, division.whole > 0) +
        (division.is_even() ? 0 : pace.of.tile) +  // a share in two tiles begins and ends twice
        streaming_us(kAdd, 2 * double(workspace_of<S>(division)), device);
  const AlongWidth along(args);
  us += along.launches() * kCopy.fixed_us +
        streaming_us({0, kCopy.bandwidth_share}, along.traffic(), device);
  return std::max(us, streaming_us({5.0, 0.75}, bytes(args), device));
}

}  // namespace ridge::gemm::simt
