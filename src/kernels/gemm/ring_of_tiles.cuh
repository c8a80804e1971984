// A ring of tiles of a and b between one thread that asks the copy engine for them and two
// warpgroups that multiply them, which rung 21 introduces.
//
// With a cluster of two blocks, one below the other in d, both need the same tile of b: each asks
// for half of it, for both. A stage is free when the warpgroups of both blocks have read it.
#pragma once

#include "device/ptx/cluster.cuh"
#include "device/ptx/grid.cuh"
#include "kernels/gemm/hopper.cuh"

namespace ridge::gemm::hopper {

// How large the tiles are. kConsumers warpgroups make kGroupRows rows by kCols columns each. They
// lie one below the other in one tile, or, if they alternate, each of them makes every other tile.
// kCluster blocks, one below the other, share b.
template <int kCols_, int kGroupRows_, int kConsumers_, bool kAlternates_, int kStages_,
          int kCluster_>
struct RingShape {
  static constexpr int kCols = kCols_, kGroupRows = kGroupRows_, kConsumers = kConsumers_;
  static constexpr int kStages = kStages_, kCluster = kCluster_;
  static constexpr bool kAlternates = kAlternates_;
  static constexpr int kTileRows = kGroupRows * (kAlternates ? 1 : kConsumers);  // of a block
  static constexpr int kReaders = kTileRows / kGroupRows * kWarpgroup / 32;      // warps, of a tile
};
// That of the lessons. The first of three warpgroups produces.
template <int kCluster>
using LessonShape = RingShape<kCols, kRows, 2, false, 4, kCluster>;
constexpr int kRingThreads = 3 * kWarpgroup;

template <class Shape>
struct RingOfTiles {
  alignas(kAlignment) char a[Shape::kStages][Shape::kTileRows * kLineBytes];
  alignas(kAlignment) char b[Shape::kStages][Shape::kCols * kLineBytes];
  Ring<Shape::kStages> barriers;
};
template <class Shape>
using Place = RingPlace<Shape::kStages>;

// Of this thread. By way of a shuffle, so that the compiler knows that a warp agrees on it, and
// keeps what follows from it (addresses of tiles) in uniform registers.
__device__ __forceinline__ int warpgroup_index() {
  return __shfl_sync(0xffffffff, int(threadIdx.x) / kWarpgroup, 0);
}

// By all threads, before anybody uses the ring.
template <class Shape>
__device__ __forceinline__ void init(RingOfTiles<Shape>& ring) {
  // One thread of each warp arrives.
  if (threadIdx.x == 0) ring.barriers.init(Shape::kCluster * Shape::kReaders);
  if constexpr (Shape::kCluster > 1) {
    __syncwarp();
    cluster_arrive_relaxed();  // to release memory would take long, and Ring::init has a fence
    cluster_wait();
  } else {
    __syncthreads();
  }
}
// By all threads, at the end: no block leaves while another one may still write to its memory.
template <class Shape>
__device__ __forceinline__ void leave() {
  if constexpr (Shape::kCluster > 1) {
    __syncwarp();
    cluster_arrive_relaxed();
    cluster_wait();
  }
}

// The levels of a sum that are added, from `begin` to before `end`.
struct Levels {
  int begin, end;
};

// Asks for a's tile of one step, after it has said how many bytes come to the stage, and for this
// block's part of b's tile.
template <class A, class B, class Shape>
__device__ __forceinline__ void ask_for_a(RingOfTiles<Shape>& ring, int stage, const Maps& maps,
                                          const TileAt& tile, int k, bool once) {
  uint64_t* const full = &ring.barriers.full[stage];
  ptx::mbarrier_arrive_expect(full, A::kBytes + Shape::kCluster * B::kBytes);
  A::load(ring.a[stage], &maps.a, tile.row, k, tile.batch, full, 0, once);
}
template <class B, class Shape>
__device__ __forceinline__ void ask_for_b(RingOfTiles<Shape>& ring, int stage, const Maps& maps,
                                          const TileAt& tile, int k) {
  constexpr int kCluster = Shape::kCluster;
  constexpr auto kBlocks = uint16_t(kCluster > 1 ? (1 << kCluster) - 1 : 0);
  const int part = kCluster > 1 ? int(cluster_rank()) : 0;
  B::load(ring.b[stage] + part * B::kBytes, &maps.b, tile.col + part * (Shape::kCols / kCluster), k,
          tile.batch, &ring.barriers.full[stage], kBlocks);
}

// Asks for the tiles of a sum. If `once`, this is the only block that reads its part of a.
template <class A, class B, class Shape>
__device__ __forceinline__ void produce(RingOfTiles<Shape>& ring, const Maps& maps,
                                        const TileAt& tile, Levels levels, Place<Shape>& place,
                                        bool once = false) {
  for (int k = levels.begin; k < levels.end; k += A::kDepth, place.advance()) {
    ptx::mbarrier_wait(&ring.barriers.empty[place.stage], place.phase ^ 1);
    ask_for_a<A, B>(ring, place.stage, maps, tile, k, once);
    ask_for_b<B>(ring, place.stage, maps, tile, k);
  }
}

// Instead of init, by all threads: the thread kProducer asks for the first tiles while blocks still
// wait for each other. Only here does the kernel wait for those before it: its launch may have
// begun early. Returns the levels that are left of those of its first tile.
template <class A, class B, int kProducer = 0, class Shape>
__device__ __forceinline__ Levels init_and_produce(RingOfTiles<Shape>& ring, const Maps& maps,
                                                   const TileAt& tile, Levels levels,
                                                   Place<Shape>& place, bool once = false) {
  const int steps = min(Shape::kStages, (levels.end - levels.begin + A::kDepth - 1) / A::kDepth);
  const auto ask = [&](bool for_a, bool for_b) {
    if (threadIdx.x != kProducer) return;
    for (int i = 0; i < steps; ++i) {
      const int k = levels.begin + i * A::kDepth;
      if (for_a) ask_for_a<A, B>(ring, i, maps, tile, k, once);
      if (for_b) ask_for_b<B>(ring, i, maps, tile, k);
    }
  };
  if (threadIdx.x == kProducer) ring.barriers.init(Shape::kCluster * Shape::kReaders);
  ptx::wait_for_kernels_before();
  ptx::let_next_kernel_begin();
  if constexpr (Shape::kCluster > 1) {
    __syncwarp();
    cluster_arrive_relaxed();
    ask(true, false);
    __syncwarp();
    cluster_wait();  // now b may go to all blocks
    ask(false, true);
  } else {
    ask(true, true);
    __syncthreads();
  }
  if (threadIdx.x == kProducer) place.skip(steps);
  return {levels.begin + steps * A::kDepth, levels.end};
}

// A block's part of b's tile, and all of it.
template <class B, int kCols>
using WholeWidth =
    WgmmaOperand<kCols, B::kIsTurned ? Contiguous::width : Contiguous::depth, B::kBytesPerElement>;

// The sums of a lane: for every 64 rows, half as many as there are columns.
template <class Shape>
struct Sums {
  float of[Shape::kGroupRows / kRows][Shape::kCols / 2];
};

// One thread of each warp says that the warp has read a stage.
template <class Shape>
__device__ __forceinline__ void release(RingOfTiles<Shape>& ring, int stage) {
  if (threadIdx.x % 32 != 0) return;
  if constexpr (Shape::kCluster > 1) {
#pragma unroll
    for (int rank = 0; rank < Shape::kCluster; ++rank)
      ptx::mbarrier_arrive_at(&ring.barriers.empty[stage], uint32_t(rank));
  } else {
    ptx::mbarrier_arrive(&ring.barriers.empty[stage]);
  }
}

// Multiplies a sum: kGroupRows rows from `row` on, of the block's tile. A sum of no levels is left
// as it is. Calls issued() when the last products are under way.
struct Nothing {
  __device__ __forceinline__ void operator()() const {}
};
template <class T, class A, class B, class Shape, class Issued = Nothing>
__device__ __forceinline__ void consume(RingOfTiles<Shape>& ring, int row, Levels levels,
                                        Place<Shape>& place, Sums<Shape>& sums,
                                        Issued issued = {}) {
  using WholeB = WholeWidth<B, Shape::kCols>;
  if (levels.begin >= levels.end) return;
  int before = 0;  // the stage of the step before
  for (int k = levels.begin; k < levels.end; k += A::kDepth, place.advance()) {
    ptx::mbarrier_wait(&ring.barriers.full[place.stage], place.phase);
    ptx::wgmma_fence();
#pragma unroll
    for (int i = 0; i < Shape::kGroupRows / kRows; ++i)
      multiply<T, A, WholeB>(ring.a[place.stage], row + i * kRows, ring.b[place.stage],
                             k > levels.begin, sums.of[i]);
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();  // the products of the step before are complete
    if (k > levels.begin) release(ring, before);
    before = place.stage;
  }
  issued();
  ptx::wgmma_wait<0>();
  release(ring, before);
}

// --- Which tile ---

// The tiles of all products, in clusters of blocks one below the other.
template <class Shape>
struct Tiles {
  int down, across;  // clusters, of one product
  int all;

  __host__ __device__ Tiles(int64_t rows, int64_t cols, int64_t batch)
      : down(int(tiles_of(rows, Shape::kTileRows * Shape::kCluster))),
        across(int(tiles_of(cols, Shape::kCols))),
        all(down * across * int(batch)) {}
  __host__ __device__ explicit Tiles(const Args& args) : Tiles(args.m, args.n, args.batch) {}

  // Row by row. `rank` is that of the block in its cluster.
  __device__ __forceinline__ TileAt in_rows(int index, int rank) const {
    const int of_product = index % (down * across);
    return at(of_product / across, of_product % across, index / (down * across), rank);
  }
  // In bands of kBand clusters: down a band, then on to the next column.
  template <int kBand>
  __device__ __forceinline__ TileAt in_bands(int index, int rank) const {
    if (down * across == 1) return at(0, 0, index, rank);  // saves the divisions
    const int of_product = index % (down * across);
    const int band = of_product / (kBand * across), in_band = of_product % (kBand * across);
    const int height = min(kBand, down - band * kBand);  // the last one may be lower
    return at(band * kBand + in_band % height, in_band / height, index / (down * across), rank);
  }

 private:
  __device__ __forceinline__ TileAt at(int row, int col, int product, int rank) const {
    return {(row * Shape::kCluster + rank) * Shape::kTileRows, col * Shape::kCols, product};
  }
};

// Launches with one cluster for every tile, or with as many as `most_blocks` make.
template <class Shape, class Kernel, class... More>
Status launch_ring(Kernel kernel, const Args& args, int most_blocks, int shared_bytes,
                   cudaStream_t stream, const More&... more) {
  const int clusters = std::min(Tiles<Shape>(args).all, std::max(most_blocks / Shape::kCluster, 1));
  return launch_kernel(kernel, unsigned(clusters * Shape::kCluster), kRingThreads, Shape::kCluster,
                       shared_bytes, stream, more..., args);
}

}  // namespace ridge::gemm::hopper
