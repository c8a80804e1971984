// A ring of tiles of a and b between one thread that asks the copy engine for them and two
// warpgroups that multiply them, which rung 21 introduces.
//
// With a cluster of two blocks, one below the other in d, both need the same tile of b: each asks
// for half of it, for both. A stage is free when the warpgroups of both blocks have read it.
#pragma once

#include "device/ptx/cluster.cuh"
#include "kernels/gemm/hopper.cuh"

namespace ridge::gemm::hopper {

constexpr int kConsumers = 2;                                // warpgroups
constexpr int kRingThreads = (1 + kConsumers) * kWarpgroup;  // the first one produces
constexpr int kTileRows = kConsumers * kRows;                // of a block
constexpr int kStages = 4;

struct RingOfTiles {
  alignas(kAlignment) char a[kStages][kTileRows * kDepth * 2];
  alignas(kAlignment) char b[kStages][kCols * kDepth * 2];
  Ring<kStages> barriers;
};
using Place = RingPlace<kStages>;

// Of this thread. By way of a shuffle, so that the compiler knows that a warp agrees on it, and
// keeps what follows from it (addresses of tiles) in uniform registers.
__device__ __forceinline__ int warpgroup_index() {
  return __shfl_sync(0xffffffff, int(threadIdx.x) / kWarpgroup, 0);
}

// By all threads, before anybody uses the ring.
template <int kCluster>
__device__ __forceinline__ void init(RingOfTiles& ring) {
  constexpr int kReaders = kCluster * kConsumers * kWarpgroup / 32;  // one thread of every warp
  if (threadIdx.x == 0) ring.barriers.init(kReaders);
  if constexpr (kCluster > 1) {
    cluster_arrive();
    cluster_wait();
  } else {
    __syncthreads();
  }
}
// By all threads, at the end: no block leaves while another one may still write to its memory.
template <int kCluster>
__device__ __forceinline__ void leave() {
  if constexpr (kCluster > 1) {
    __syncwarp();
    cluster_arrive();
    cluster_wait();
  }
}

// Asks for the tiles of a whole sum.
template <class A, class B, int kCluster>
__device__ __forceinline__ void produce(RingOfTiles& ring, const Maps& maps, const TileAt& tile,
                                        int depth, Place& place) {
  constexpr auto kBlocks = uint16_t(kCluster > 1 ? (1 << kCluster) - 1 : 0);
  const int part = kCluster > 1 ? int(cluster_rank()) : 0;  // of b, that this block asks for
  for (int k = 0; k < depth; k += kDepth, place.advance()) {
    uint64_t* const full = &ring.barriers.full[place.stage];
    uint64_t* const empty = &ring.barriers.empty[place.stage];
    ptx::mbarrier_wait(empty, place.phase ^ 1);
    ptx::mbarrier_arrive_expect(full, A::kBytes + kCluster * B::kBytes);
    A::load(ring.a[place.stage], &maps.a, tile.row, k, tile.batch, full);
    B::load(ring.b[place.stage] + part * B::kBytes, &maps.b, tile.col + part * (kCols / kCluster),
            k, tile.batch, full, kBlocks);
  }
}

// Multiplies a whole sum: 64 rows from `row` on, of the block's tile.
template <class T, class A, class B, int kCluster>
__device__ __forceinline__ void consume(RingOfTiles& ring, int row, int depth, Place& place,
                                        float (&sums)[128]) {
  using WholeB = WgmmaOperand<kCols, B::kIsTurned ? Contiguous::width : Contiguous::depth>;
  const auto release = [&](int stage) {
    if (threadIdx.x % 32 != 0) return;
    if constexpr (kCluster > 1) {
#pragma unroll
      for (int rank = 0; rank < kCluster; ++rank)
        ptx::mbarrier_arrive_at(&ring.barriers.empty[stage], uint32_t(rank));
    } else {
      ptx::mbarrier_arrive(&ring.barriers.empty[stage]);
    }
  };
  int before = 0;  // the stage of the step before
  for (int k = 0; k < depth; k += kDepth, place.advance()) {
    ptx::mbarrier_wait(&ring.barriers.full[place.stage], place.phase);
    ptx::wgmma_fence();
    multiply<T, A, WholeB>(ring.a[place.stage], row, ring.b[place.stage], k > 0, sums);
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();  // the products of the step before are complete
    if (k > 0) release(before);
    before = place.stage;
  }
  ptx::wgmma_wait<0>();
  release(before);
}

// --- Which tile ---

// The tiles of all products: kCluster blocks, one below the other, take one column of tiles each.
struct Tiles {
  int down, across;  // clusters, of one product
  int all;

  __host__ __device__ Tiles(const Args& args, int cluster)
      : down(int((args.m + kTileRows * cluster - 1) / (kTileRows * cluster))),
        across(int((args.n + kCols - 1) / kCols)),
        all(down * across * int(args.batch)) {}
};

// Row by row.
__device__ __forceinline__ TileAt tile_in_rows(const Tiles& tiles, int index, int cluster,
                                               int rank) {
  const int of_product = index % (tiles.down * tiles.across);
  return {(of_product / tiles.across * cluster + rank) * kTileRows,
          of_product % tiles.across * kCols, index / (tiles.down * tiles.across)};
}

// Launches with one cluster for every tile, or with as many as the device runs at once.
template <int kCluster, class Kernel, class... More>
Status launch_ring(Kernel kernel, const Args& args, int most_blocks, int shared_bytes,
                   cudaStream_t stream, const More&... more) {
  const int clusters = std::min(Tiles(args, kCluster).all, std::max(most_blocks / kCluster, 1));
  return launch_kernel(kernel, unsigned(clusters * kCluster), kRingThreads, kCluster, shared_bytes,
                       stream, more..., args);
}

}  // namespace ridge::gemm::hopper
