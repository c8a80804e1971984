// One kernel for tiles of several sizes, which rung 26 introduces: two warpgroups work on one tile,
// or alternate, each on a tile of its own, so that one stores while the other one multiplies.
#pragma once

#include "kernels/gemm/asked_by_tma.cuh"
#include "kernels/gemm/ring_of_tiles.cuh"
#include "kernels/gemm/tf32_from_registers.cuh"
#include "kernels/gemm/variants.cuh"

namespace ridge::gemm::hopper {

// kTransposed: the product is made transposed, so that its columns, whose number per tile may be
// any, are the rows of a.
template <int kCols, int kGroupRows, bool kAlternates, int kStages, int kCluster,
          bool kTransposed_ = false, int kElementBytes_ = 2>
struct TileVariant : RingShape<kCols, kGroupRows, 2, kAlternates, kStages, kCluster> {
  static constexpr bool kTransposed = kTransposed_;
  static constexpr int kBand = 2048 / (128 * kCluster);  // clusters: about 2048 rows
  // Of a row, in a store. Results have 2 or 4 bytes.
  static constexpr int kPieceBytes = kTransposed || kCols % 64 == 0 ? 128
                                     : kCols % 32 == 0              ? 64
                                                                    : 32;
  static constexpr int kPieceRows = kTransposed ? kRowsOfPiece : kRows;
  static constexpr int kElementBytes = kElementBytes_;  // of a and b; with 4, of d, too
  static constexpr int kBoxes = kTransposed ? kElementBytes / 2 : 1;
};

template <class V>
struct TileShared {
  RingOfTiles<V> ring;
  Pieces<V::kPieceBytes, V::kPieceRows, V::kBoxes> pieces[V::kConsumers];
};

// Warpgroups that alternate multiply one after the other. Without that, a warpgroup could not tell
// the stages of its own tile from those that the ring brought two rounds before.
constexpr int kFirstTurn = 1 + 2;  // named barriers, behind those of the stores
__device__ __forceinline__ void my_turn(int consumer) {
  ptx::named_barrier(kFirstTurn + consumer, 2 * kWarpgroup);
}
__device__ __forceinline__ void your_turn(int consumer) {
  ptx::named_barrier_arrive(kFirstTurn + consumer, 2 * kWarpgroup);
}

// How results are stored: each lane stores its own where the copy engine cannot reach d. An
// epilogue that a call asks for is in kernels of its own, because it takes registers.
enum class Stores : uint8_t { by_lanes, by_tma, asked };

template <class T, class V, class A, class B, Stores kStores>
__global__ void __launch_bounds__(kRingThreads, 1)
    gemm_tiles(const __grid_constant__ Maps maps, const __grid_constant__ CUtensorMap map_d,
               const Args args, const Tiles<V> tiles) {
  auto& shared = aligned_shared<TileShared<V>>();
  if (threadIdx.x == 0) {  // the maps, too, come from memory
    ptx::prefetch_tensor_map(&maps.a);
    ptx::prefetch_tensor_map(&maps.b);
    if constexpr (kStores != Stores::by_lanes) ptx::prefetch_tensor_map(&map_d);
  }
  const int rank = V::kCluster > 1 ? int(cluster_rank()) : 0;
  const int first = int(blockIdx.x) / V::kCluster, step = int(gridDim.x) / V::kCluster;
  const auto tile_at = [&](int i) { return tiles.template in_bands<V::kBand>(i, rank); };
  const Levels levels = {0, int(args.k)};
  Place<V> place;
  const Levels left = init_and_produce<A, B>(shared.ring, maps, tile_at(first), levels, place);
  const int warpgroup = warpgroup_index();
  if (warpgroup == 0) {
    ptx::give_up_registers<40>();
    if (threadIdx.x == 0)
      for (int i = first; i < tiles.all; i += step)
        produce<A, B>(shared.ring, maps, tile_at(i), i == first ? left : levels, place);
  } else {
    ptx::ask_for_registers<232>();
    const int consumer = warpgroup - 1;
    const int row = V::kAlternates ? 0 : consumer * V::kGroupRows;
    const int steps = int(tiles_of(args.k, A::kDepth));  // of a sum
    StoreByTma store(shared.pieces[consumer], warpgroup);
    if (V::kAlternates) place.skip(consumer * steps);
    for (int i = V::kAlternates ? first + consumer * step : first; i < tiles.all;
         i += V::kAlternates ? V::kConsumers * step : step) {
      const TileAt tile = tile_at(i);
      Sums<V> sums;
      if (V::kAlternates && i != first) my_turn(consumer);
      const auto issued = [&] {
        if (V::kAlternates && i + step < tiles.all) your_turn(1 - consumer);
      };
      if constexpr (std::is_same_v<T, float> && A::kIsTurned)
        consume_from_registers<A, B>(shared.ring, row, levels, place, sums, issued);
      else consume<T, A, B>(shared.ring, row, levels, place, sums, issued);
      if (V::kAlternates) place.skip(steps);
      if constexpr (kStores == Stores::asked) {
        store_asked<T>(store, args, &map_d, {tile.row + row, tile.col, tile.batch}, sums.of);
      } else {
#pragma unroll
        for (int j = 0; j < V::kGroupRows / kRows; ++j) {
          const TileAt part = {tile.row + row + j * kRows, tile.col, tile.batch};
          if constexpr (kStores == Stores::by_lanes && V::kTransposed)
            put_turned_sums<T>(args, part, sums.of[j]);
          else if constexpr (V::kTransposed)
            store.template put_turned<T>(args, &map_d, part, sums.of[j]);
          else if constexpr (kStores == Stores::by_tma)
            store.template put<T>(args, &map_d, part, sums.of[j]);
          else put_sums<T>(args, part, sums.of[j]);
        }
      }
    }
    store.end();
  }
  leave<V>();
}

// The product as it is made.
template <class V>
Args made(const Args& args) {
  return V::kTransposed ? transposed(args) : args;
}
// The boxes of an operand whose width is contiguous are 64 wide.
template <class V>
constexpr bool kTakesTurnedB = !V::kTransposed && V::kCols / V::kCluster % 64 == 0;
template <class V>
bool takes(const Args& args) {
  if (V::kTransposed && args.result == Dtype::f32) return false;
  return kTakesTurnedB<V> || !operand_b(made<V>(args)).is_turned();
}

// Constants: of a launch, of a step of a tile (64 levels; of tf32, 32), of a tile's start and end.
template <class V>
Terms terms_of_tiles(const Args& args, const DeviceInfo& device) {
  if (!takes<V>(args)) return kImpossible;
  const double at_once = std::max(device.sm_count / V::kCluster, 1);
  const double turns = std::ceil(double(Tiles<V>(made<V>(args)).all) / at_once);
  const double steps = double(tiles_of(args.k, kLineBytes / V::kElementBytes));
  return {.counts = {1, turns * steps, turns},
          .memory_us = streaming_us({0, 0.7}, bytes(args), device)};
}

template <class V, Stores kStores>
Status launch_tiles_of(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  const Args product = made<V>(args);
  return with_majors(product, [&](auto a, auto b) -> Status {
    if constexpr (decltype(b)::value == Contiguous::width && !kTakesTurnedB<V>) {
      return Error{int(cudaErrorNotSupported),
                   "tiles of this width take b along its depth only, or a if transposed"};
    } else {
      using A = WgmmaOperand<V::kTileRows, decltype(a)::value>;
      using B = WgmmaOperand<V::kCols / V::kCluster, decltype(b)::value>;
      const auto maps = make_maps<A, B>(product);
      if (!maps) return maps.error();
      const auto map_d = [&]() -> Expected<CUtensorMap> {
        if constexpr (kStores == Stores::by_tma)
          return map_of_results<V::kPieceBytes, V::kPieceRows>(args);
        else if constexpr (kStores == Stores::asked) return map_of_asked_results(args);
        else return CUtensorMap();
      }();
      if (!map_d) return map_d.error();
      const auto kernel = args.dtype == Dtype::f16 ? gemm_tiles<__half, V, A, B, kStores>
                                                   : gemm_tiles<__nv_bfloat16, V, A, B, kStores>;
      const Tiles<V> tiles(product);
      const int clusters = std::min(tiles.all, std::max(device.sm_count / V::kCluster, 1));
      return launch_kernel<Begins::early>(kernel, unsigned(clusters * V::kCluster), kRingThreads,
                                          V::kCluster, kSharedBytes<TileShared<V>>, stream, *maps,
                                          *map_d, args, tiles);
    }
  });
}

}  // namespace ridge::gemm::hopper
