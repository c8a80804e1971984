// A tile whose sum the blocks of a cluster share, which rung 27 introduces: each block adds up a
// part of the levels, leaves its sums in shared memory, and makes a share of the results from all
// parts, always in the same order. `split_k` and `tf32_split_k` have it in several shapes.
#pragma once

#include "kernels/gemm/ring_of_tiles.cuh"
#include "kernels/gemm/tf32_from_registers.cuh"
#include "kernels/gemm/variants.cuh"

namespace ridge::gemm::hopper {

template <int kCols, int kConsumers, int kStages, int kBlocks_, bool kTransposed_,
          int kElementBytes_ = 2>
struct SharedSum : RingShape<kCols, kRows, kConsumers, false, kStages, 1> {
  static constexpr int kBlocks = kBlocks_;  // on one SM
  static constexpr bool kTransposed = kTransposed_;
  static constexpr int kElementBytes = kElementBytes_;        // of a and b
  static constexpr int kLevels = kLineBytes / kElementBytes;  // of a step
  static constexpr int kProducer = kConsumers * kWarpgroup;   // the first thread of the last warp
  static constexpr int kThreads = kProducer + 32;
  // The tile as it lies in d.
  static constexpr int kDown = kTransposed ? kCols : kConsumers * kRows;
  static constexpr int kAcross = kTransposed ? kConsumers * kRows : kCols;
  // From row to row of the tile. Lanes write pairs of columns of 8 rows, or pairs of rows of 8
  // columns: with these steps, to different banks.
  static constexpr int kPitch = kAcross + (kTransposed ? 4 : 8);
};

// The sums take the place of the ring, when all of it has been read.
template <class V>
union RingOrSums {
  RingOfTiles<V> ring;
  float sums[V::kDown * V::kPitch];
};

// The sums of a warpgroup, whose first row in the product is `row`.
template <class V>
__device__ __forceinline__ void leave_sums(float* tile, int row, const Sums<V>& sums) {
  const int warp = int(threadIdx.x) % kWarpgroup / 32, lane = int(threadIdx.x) % 32;
  const int first_row = row + 16 * warp + lane / 4, first_col = lane % 4 * 2;
#pragma unroll
  for (int s = 0; s < V::kCols / 2; s += 2) {
    const int r = first_row + s / 2 % 2 * 8, c = first_col + s / 4 * 8;
    if constexpr (V::kTransposed) {
      tile[c * V::kPitch + r] = sums.of[0][s];
      tile[(c + 1) * V::kPitch + r] = sums.of[0][s + 1];
    } else {
      *reinterpret_cast<float2*>(tile + r * V::kPitch + c) = {sums.of[0][s], sums.of[0][s + 1]};
    }
  }
}

// Four neighbours of a row of d.
template <class Out>
__device__ __forceinline__ void put_four(const Results<Out>& results, int64_t row, int64_t col,
                                         const float4& sums) {
  const float all[4] = {sums.x, sums.y, sums.z, sums.w};
  struct alignas(4 * sizeof(Out)) Four {
    Out at[4];
  };
  Out* const place = results.d + row * results.d_step + col;
  if (results.beta == 0 && results.c.has(row, col + 3) &&
      reinterpret_cast<uintptr_t>(place) % sizeof(Four) == 0) {
    Four four;
#pragma unroll
    for (int i = 0; i < 4; ++i) four.at[i] = from_float<Out>(results.alpha * all[i]);
    *reinterpret_cast<Four*>(place) = four;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) results.put(row, col + i, all[i]);
}

// Adds up this block's share of the rows of the tile.
template <class Out, class V>
__device__ __forceinline__ void put_share(const Args& args, const float* tile, int64_t row,
                                          int64_t col, int batch) {
  const Results<Out> results(args, batch);
  const int blocks = int(cluster_size()), rank = int(cluster_rank());
  constexpr int kPerRow = V::kAcross / 4;
  const int share = (V::kDown + blocks - 1) / blocks;  // rows
  const int end = min(V::kDown, (rank + 1) * share) * kPerRow;
  for (int i = rank * share * kPerRow + int(threadIdx.x); i < end; i += V::kThreads) {
    const int r = i / kPerRow, c = i % kPerRow * 4;
    const float* const here = tile + r * V::kPitch + c;
    float4 sum = {};
    for (int from = 0; from < blocks; ++from) {
      const float4 part = load_from_cluster(reinterpret_cast<const float4*>(here), unsigned(from));
      sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
    }
    put_four(results, row + r, col + c, sum);
  }
}

template <class T, class V, class A, class B>
__global__ void __launch_bounds__(V::kThreads, V::kBlocks)
    gemm_shared_sum(const __grid_constant__ Maps maps, const Args args, const Tiles<V> tiles) {
  auto& shared = aligned_shared<RingOrSums<V>>();
  if (threadIdx.x == V::kProducer)  // the maps, too, come from memory
    for (const CUtensorMap* map : {&maps.a, &maps.b}) ptx::prefetch_tensor_map(map);
  const int blocks = int(cluster_size()), rank = int(cluster_rank());
  const TileAt tile = tiles.template in_bands<16>(int(blockIdx.x) / blocks, 0);
  const int steps = int(tiles_of(args.k, V::kLevels));
  const Levels levels = {int(int64_t(steps) * rank / blocks) * V::kLevels,
                         int(int64_t(steps) * (rank + 1) / blocks) * V::kLevels};
  Place<V> place;
  const Levels left =
      init_and_produce<A, B, V::kProducer>(shared.ring, maps, tile, levels, place, V::kTransposed);
  const int warpgroup = warpgroup_index();
  Sums<V> sums = {};
  if (warpgroup == V::kConsumers) {
    if (threadIdx.x == V::kProducer)
      produce<A, B>(shared.ring, maps, tile, left, place, V::kTransposed);
  } else if constexpr (std::is_same_v<T, float> && A::kIsTurned) {
    consume_from_registers<A, B>(shared.ring, warpgroup * kRows, levels, place, sums, Nothing());
  } else {
    consume<T, A, B>(shared.ring, warpgroup * kRows, levels, place, sums);
  }
  __syncthreads();  // the ring has been read
  if (warpgroup < V::kConsumers) leave_sums<V>(shared.sums, warpgroup * kRows, sums);
  cluster_arrive();
  cluster_wait();
  const int64_t row = V::kTransposed ? tile.col : tile.row;
  const int64_t col = V::kTransposed ? tile.row : tile.col;
  if (args.result == Dtype::f32) put_share<float, V>(args, shared.sums, row, col, tile.batch);
  else put_share<T, V>(args, shared.sums, row, col, tile.batch);
  cluster_arrive_relaxed();  // no block leaves while another one reads its sums
  cluster_wait();
}

// How many blocks share a sum. Variants are all splits of a shape, then those of the next.
constexpr int kSplits[] = {1, 2, 3, 4, 6, 8};
constexpr int kSplitCount = int(std::size(kSplits));
#define RIDGE_SPLITS(name) name "/1", name "/2", name "/3", name "/4", name "/6", name "/8"

// The constants of all variants, from those of each shape: of a launch without a split, of a step.
template <size_t kShapes>
constexpr auto constants_of_splits(const double (&fixed)[kShapes], const double (&step)[kShapes]) {
  constexpr double kOfSplit = 0.5;  // a launch takes longer for each further block of a cluster
  std::array<Constants, kShapes* kSplitCount> all = {};
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = {fixed[i / kSplitCount] + kOfSplit * (kSplits[i % kSplitCount] - 1),
              step[i / kSplitCount]};
  return all;
}

// Constants: of a launch, of a step of a block, of a block's start and end. `product` is what is
// made, args or transposed.
template <class V>
Terms terms_of_shared_sum(const Args& product, const DeviceInfo& device, int splits) {
  const double steps = double(tiles_of(product.k, V::kLevels));
  if (steps < splits) return kImpossible;
  const double blocks = double(Tiles<V>(product).all) * splits;
  const double turns = std::ceil(blocks / (double(V::kBlocks) * device.sm_count));
  const double on_an_sm = std::ceil(blocks / turns / device.sm_count);  // at the same time
  const double reads = streaming_us({0, 0.75}, bytes(product), device);
  const double per_sm = blocks / device.sm_count;
  // SMs without a block do not read; blocks that share an SM get in each other's way.
  const double crowded = (V::kCols < 64 ? 0.25 : 1.4) * std::max(0.0, per_sm - 1.7);
  return Terms{.counts = {1, turns * on_an_sm * std::ceil(steps / splits), turns * on_an_sm},
               .memory_us = reads / std::min(1.0, per_sm) * (1 + crowded)};
}

}  // namespace ridge::gemm::hopper
