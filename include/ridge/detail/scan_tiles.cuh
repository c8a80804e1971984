// A prefix scan in one pass over memory, for any operator that ridge/scan.cuh takes: every element
// is read once and written once.
//
// A block is a tile. A warp reads its part of it in rows, 16 bytes per lane, and scans each row
// where it lies: a lane's pack serially, the packs of a row by shuffles, row after row. Nothing is
// transposed, so shared memory only carries the totals of the warps. The elements wait in registers
// for the value of everything before the tile (see look_back.cuh).
//
// Which aggregates and prefixes a tile meets depends on timing, and so does the order in which they
// are combined: an operator that is associative only up to rounding may give results that differ in
// the last digits from run to run.
#pragma once

#include <cuda_runtime_api.h>

#include "ridge/detail/look_back.cuh"
#include "ridge/detail/ptx/prefetch.cuh"

namespace ridge::detail {

// How a launch is cut up. What there is to tune:
template <int Threads, int BytesPerThread, int BlocksPerSm, int TilesPerLane>
struct ScanShape {
  static constexpr int kThreads = Threads;
  static constexpr int kBytesPerThread = BytesPerThread;  // of its part of a tile, in registers
  static constexpr int kBlocksPerSm = BlocksPerSm;        // at once: what registers must allow
  static constexpr int kTilesPerLane = TilesPerLane;      // of the warp that looks back, at a time
  static constexpr int kWarps = kThreads / kWarpLanes;
};

// For vectors. Large tiles, few of them looked at at once, and blocks that end with their tile: on
// an H200, i32, 2^28 numbers take 616 µs so; with <256, 96, 4, 2> 790, with blocks that stay and
// take tile after tile 740, with 4 tiles per lane 800. bench/results/scan.json has the shape
// chosen.
using VectorTiles = ScanShape<128, 160, 6, 1>;

// A vector of T that is scanned in A. Any other source of elements has the same members.
template <class T, class A = T>
struct VectorIo {
  using Value = A;
  static constexpr int kPack = 16 % sizeof(T) == 0 ? 16 / int(sizeof(T)) : 1;
  static constexpr int kPackBytes = kPack * int(sizeof(T));
  static constexpr bool kWide = kPackBytes == 16;  // packs move as 16 bytes; or else as they are
  struct Pack {
    T at[kPack];
  };

  const T* in;
  T* out;  // may be `in`
  int64_t n;

  // Elements between the 16-byte boundary at or before a pointer, and the pointer. Packs start at
  // the boundaries of the input, so the first may have elements that are not there.
  __host__ __device__ static int phase(const T* p) {
    return kWide ? int(reinterpret_cast<uintptr_t>(p) % kPackBytes / sizeof(T)) : 0;
  }
  __host__ __device__ int lead() const { return phase(in); }
  __device__ bool in_step() const { return phase(in) == phase(out); }

  __device__ __forceinline__ void prefetch(int64_t begin, int64_t end, int rank, int ranks) const {
    prefetch_to_l2(in + (begin > 0 ? begin : 0), in + (end < n ? end : n), rank, ranks);
  }
  // Read once, by nobody else: evict first.
  __device__ __forceinline__ Pack load(int64_t i) const {
    Pack pack;
    if constexpr (kWide) {
      const int4 words = __ldcs(reinterpret_cast<const int4*>(in + i));
      memcpy(&pack, &words, sizeof(Pack));
    } else {
      pack.at[0] = in[i];
    }
    return pack;
  }
  template <class Op>
  __device__ __forceinline__ Pack load_at_an_end(int64_t i, const Op& op) const {
    Pack pack;
#pragma unroll
    for (int k = 0; k < kPack; ++k)
      pack.at[k] = i + k >= 0 && i + k < n ? in[i + k] : static_cast<T>(op.identity());
    return pack;
  }
  __device__ __forceinline__ static A item(const Pack& pack, int k) {
    return static_cast<A>(pack.at[k]);
  }
  // What is written for item k, from the value up to and including it, or before it.
  __device__ __forceinline__ static T inclusive(const A& through) {
    return static_cast<T>(through);
  }
  __device__ __forceinline__ static T exclusive(const A& before, const Pack&, int) {
    return static_cast<T>(before);
  }
  using Result = T;
};

template <class T, int kPack>
__device__ __forceinline__ void store_pack_of(T* to, const T (&results)[kPack]) {
  if constexpr (kPack * sizeof(T) == 16) {
    int4 words;
    memcpy(&words, results, sizeof(words));
    __stcs(reinterpret_cast<int4*>(to), words);
  } else {
#pragma unroll
    for (int k = 0; k < kPack; ++k) to[k] = results[k];
  }
}

// A row of packs, one per lane, that begins at `to`, wherever that is. All lanes of the warp call
// it.
template <class T, int kPack>
__device__ __forceinline__ void store_row(T* to, const T (&results)[kPack], int lane) {
  T* const mine = to + lane * kPack;
  const int phase = int(reinterpret_cast<uintptr_t>(to) % (kPack * sizeof(T)) / sizeof(T));
  if (kPack == 1 || phase == 0) {  // alike in all lanes
    store_pack_of(mine, results);
    return;
  }
  // A lane writes the pack that starts at its item `skip` and ends among the next lane's items.
  // What is left at the two ends of the row goes item by item.
  const int skip = kPack - phase;
  T shifted[2 * kPack];
#pragma unroll
  for (int k = 0; k < kPack; ++k) {
    shifted[k] = results[k];
    shifted[kPack + k] = from_lane_above(results[k], 1);
  }
#pragma unroll
  for (int bit = 1; bit < kPack; bit *= 2)
#pragma unroll
    for (int k = 0; k + bit < 2 * kPack; ++k)
      if (skip & bit) shifted[k] = shifted[k + bit];
  T pack[kPack];
#pragma unroll
  for (int k = 0; k < kPack; ++k) pack[k] = shifted[k];
  if (lane < kWarpLanes - 1) store_pack_of(mine + skip, pack);
#pragma unroll
  for (int k = 0; k < kPack; ++k)
    if ((lane == 0 && k < skip) || (lane == kWarpLanes - 1 && k >= skip)) mine[k] = results[k];
}

// Shared memory without constructors.
template <class T>
struct Slot {
  alignas(alignof(T)) unsigned char bytes[sizeof(T)];
  __device__ __forceinline__ T get() const {
    T value;
    memcpy(&value, bytes, sizeof(T));
    return value;
  }
  __device__ __forceinline__ void set(const T& value) { memcpy(bytes, &value, sizeof(T)); }
};

template <class T, class Op>
__device__ __forceinline__ T warp_inclusive_scan(T value, const Op& op, int lane) {
#pragma unroll
  for (int d = 1; d < kWarpLanes; d *= 2) {
    const T below = from_lane_below(value, d);
    if (lane >= d) value = op(below, value);
  }
  return value;
}

template <class Shape, class Io>
struct Tiling {
  static constexpr int kPacks =  // a thread
      Shape::kBytesPerThread > Io::kPackBytes ? Shape::kBytesPerThread / Io::kPackBytes : 1;
  static constexpr int kRow = kWarpLanes * Io::kPack;  // elements
  static constexpr int kWarpPart = kPacks * kRow;
  static constexpr int kTile = Shape::kWarps * kWarpPart;
  static constexpr int64_t tiles(int64_t n) { return (n + kTile - 1) / kTile; }
  __device__ static __forceinline__ int64_t begin(const Io& io, uint32_t tile) {
    return int64_t(tile) * kTile - io.lead();
  }
};

template <class A, int kWarps>
struct ScanShared {
  Slot<A> warp_totals[kWarps];
  Slot<A> prefix;  // of the tile
  uint32_t tile;
};

// Scans one tile. kPlain: the tile is whole and its
// output as aligned as its input. The other tiles, mostly one or two per launch, have code of their
// own, so that what they need does not take registers from these.
template <class Shape, bool kInclusive, bool kPlain, class Io, class Op>
__device__ __forceinline__ void scan_tile(const Io& io, const Op& op,
                                          const TileBoard<typename Io::Value>& board,
                                          ScanShared<typename Io::Value, Shape::kWarps>& shared,
                                          uint32_t tile, uint32_t tiles) {
  using A = typename Io::Value;
  using Cut = Tiling<Shape, Io>;
  constexpr int kPack = Io::kPack, kPacks = Cut::kPacks, kWarps = Shape::kWarps;
  const int lane = int(threadIdx.x) % kWarpLanes, warp = int(threadIdx.x) / kWarpLanes;
  const int64_t begin = Cut::begin(io, tile) + warp * Cut::kWarpPart;  // of this warp's part

  typename Io::Pack packs[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int64_t i = begin + p * Cut::kRow + lane * kPack;
    if (kPlain || (i >= 0 && i + kPack <= io.n)) packs[p] = io.load(i);
    else packs[p] = io.load_at_an_end(i, op);
  }

  // At each pack, the value of the warp's part before it: row by row.
  A before[kPacks];
  A running = op.identity();
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    A total = Io::item(packs[p], 0);
#pragma unroll
    for (int k = 1; k < kPack; ++k) total = op(total, Io::item(packs[p], k));
    const A through = warp_inclusive_scan(total, op, lane);
    const A below = from_lane_below(through, 1);
    before[p] = lane == 0 ? running : op(running, below);
    running = op(running, from_lane(through, kWarpLanes - 1));
    // From here on, the first item of a pack is needed only together with what comes before it
    // (inclusive), or its last item is not needed at all (exclusive). So a pack takes no more
    // registers than it has items.
    if (kInclusive) before[p] = op(before[p], Io::item(packs[p], 0));
  }
  if (lane == 0) shared.warp_totals[warp].set(running);
  __syncthreads();

  A base = op.identity();  // of the warps before this one
#pragma unroll
  for (int w = 0; w < kWarps - 1; ++w)
    if (w < warp) base = op(base, shared.warp_totals[w].get());

  if (warp == 0) {
    A total = shared.warp_totals[0].get();
#pragma unroll
    for (int w = 1; w < kWarps; ++w) total = op(total, shared.warp_totals[w].get());
    A prefix = op.identity();
    if (tile == 0) {
      if (lane == 0 && tiles > 1) board.publish(0, TileStatus::prefix, total);
    } else {
      if (lane == 0) board.publish(tile, TileStatus::aggregate, total);
      prefix = board.template look_back<Shape::kTilesPerLane>(tile, op);
      if (lane == 0) board.publish(tile, TileStatus::prefix, op(prefix, total));
    }
    if (lane == 0) shared.prefix.set(prefix);
  }
  __syncthreads();

  base = op(shared.prefix.get(), base);
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    typename Io::Result results[kPack];
    A value = op(base, before[p]);
#pragma unroll
    for (int k = 0; k < kPack; ++k) {
      if (kInclusive) {
        if (k > 0) value = op(value, Io::item(packs[p], k));
        results[k] = Io::inclusive(value);
      } else {
        results[k] = Io::exclusive(value, packs[p], k);
        if (k + 1 < kPack) value = op(value, Io::item(packs[p], k));
      }
    }
    const int64_t row = begin + p * Cut::kRow;
    if (kPlain) {
      store_pack_of(io.out + row + lane * kPack, results);
    } else if (row >= 0 && row + Cut::kRow <= io.n) {
      store_row(io.out + row, results, lane);
    } else {
#pragma unroll
      for (int k = 0; k < kPack; ++k) {
        const int64_t i = row + lane * kPack + k;
        if (i >= 0 && i < io.n) io.out[i] = results[k];
      }
    }
  }
}

// `memory` is a TileBoard, freshly reset; a single tile needs none.
template <class Shape, bool kInclusive, class Io, class Op>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksPerSm)
    scan_tiles(Io io, Op op, void* memory, uint32_t tiles) {
  using Cut = Tiling<Shape, Io>;
  __shared__ ScanShared<typename Io::Value, Shape::kWarps> shared;
  const TileBoard<typename Io::Value> board(memory);

  // The first blocks take the first tiles, in any order. So they can prefetch before they know
  // which tile is theirs.
  io.prefetch(Cut::begin(io, blockIdx.x), Cut::begin(io, blockIdx.x + 1), int(threadIdx.x),
              Shape::kThreads);
  if (threadIdx.x == 0) shared.tile = tiles == 1 ? 0 : board.take_tile();
  __syncthreads();
  const uint32_t tile = shared.tile;
  const int64_t begin = Cut::begin(io, tile);
  if (io.in_step() && begin >= 0 && begin + Cut::kTile <= io.n)
    scan_tile<Shape, kInclusive, true>(io, op, board, shared, tile, tiles);
  else scan_tile<Shape, kInclusive, false>(io, op, board, shared, tile, tiles);
}

template <class Shape, class Io>
constexpr int64_t scan_bytes(int64_t n) {
  return look_back_bytes<typename Io::Value>(Tiling<Shape, Io>::tiles(n + Io::kPack - 1));
}

// The caller has seen to it that there is something to scan, and that `memory` has scan_bytes; it
// also asks whether the launch went well.
template <class Shape, bool kInclusive, class Io, class Op>
void launch_scan(const Io& io, const Op& op, void* memory, cudaStream_t stream) {
  using Cut = Tiling<Shape, Io>;
  const int64_t tiles = Cut::tiles(io.n + io.lead());
  if (tiles > 1) launch_reset_tiles(memory, look_back_bytes<typename Io::Value>(tiles), stream);
  scan_tiles<Shape, kInclusive>
      <<<unsigned(tiles), Shape::kThreads, 0, stream>>>(io, op, memory, uint32_t(tiles));
}

}  // namespace ridge::detail
