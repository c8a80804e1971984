// stream_compaction rung 03, look_back: one pass, in which each tile learns from the tiles before
// it where its elements go.
//
// Since 02_ballots: flags and elements are read once, in one launch, and wait in registers while
//   one warp looks back (ridge/detail/look_back.cuh). A lane reads four neighbours at once, four
//   times. What is kept is first put together in shared memory, so that neighbours in the output
//   are written by neighbouring lanes.
// Stops at: HBM, and the latency of the look-back for short inputs.
// Not for: inputs of one tile: a ballot and a barrier do that.
#include <cstring>

#include "kernels/stream_compaction/parts.cuh"
#include "ridge/detail/look_back.cuh"
#include "select/select.h"

namespace ridge::stream_compaction::look_back {

constexpr Tuned kTuned = {7.0, 0.75};  // modelled; to be replaced by a rate measured on an H200
constexpr int kQuad = 4;               // neighbours that a lane has
constexpr int kRows = 4;               // of a warp: 32 quads each
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kRow = kWarpSize * kQuad;
constexpr int kTile = kWarps * kRows * kRow;

struct Sum {
  __device__ uint32_t identity() const { return 0; }
  __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};

template <class T>
struct alignas(sizeof(T) * kQuad) Quad {
  T at[kQuad];
};

inline bool is_aligned(const void* p, size_t bytes) {
  return reinterpret_cast<uintptr_t>(p) % bytes == 0;
}

// kAligned: quads of x and flags are aligned. Only the last tile is not whole.
template <class T, bool kAligned>
__global__ void __launch_bounds__(kThreads) compact_tiles(Args a, void* memory, uint32_t tiles) {
  __shared__ T kept_elements[kTile];
  __shared__ uint32_t warp_totals[kWarps];
  __shared__ uint32_t shared_tile, shared_prefix;
  const detail::TileBoard<uint32_t> board(memory);
  if (threadIdx.x == 0) shared_tile = tiles == 1 ? 0 : board.take_tile();
  __syncthreads();
  const uint32_t tile = shared_tile;
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const int64_t begin = int64_t(tile) * kTile + warp * kRows * kRow;

  Quad<uint8_t> flags[kRows];
  Quad<T> x[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int64_t i = begin + r * kRow + lane * kQuad;
    if (kAligned && i + kQuad <= a.n) {
      flags[r] = *reinterpret_cast<const Quad<uint8_t>*>(a.flags + i);
      x[r] = *reinterpret_cast<const Quad<T>*>(static_cast<const T*>(a.x) + i);
    } else {
#pragma unroll
      for (int k = 0; k < kQuad; ++k) {
        flags[r].at[k] = i + k < a.n ? a.flags[i + k] : 0;
        x[r].at[k] = i + k < a.n ? static_cast<const T*>(a.x)[i + k] : T(0);
      }
    }
  }

  // How many a lane keeps in each row, one byte per row: at most 128 in all lanes together.
  uint32_t own = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    uint32_t count = 0;
#pragma unroll
    for (int k = 0; k < kQuad; ++k) count += flags[r].at[k] != 0;
    own |= count << 8 * r;
  }
  const uint32_t through = [&] {
    uint32_t sum = own;
#pragma unroll
    for (int d = 1; d < kWarpSize; d *= 2) {
      const uint32_t below = __shfl_up_sync(kAllLanes, sum, d);
      if (lane >= d) sum += below;
    }
    return sum;
  }();
  const uint32_t totals = __shfl_sync(kAllLanes, through, kWarpSize - 1);
  uint32_t before = through - own;  // in each row, the lanes below
  uint32_t starts[kRows], warp_total = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    starts[r] = warp_total + (before >> 8 * r & 0xff);
    warp_total += totals >> 8 * r & 0xff;
  }
  if (lane == 0) warp_totals[warp] = warp_total;
  __syncthreads();
  uint32_t base = 0, total = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    base += w < warp ? warp_totals[w] : 0;
    total += warp_totals[w];
  }

  if (warp == 0) {
    uint32_t prefix = 0;
    if (tile > 0) {
      if (lane == 0) board.publish(tile, detail::TileStatus::aggregate, total);
      prefix = board.look_back<1>(tile, Sum());
    }
    if (lane == 0) {
      if (tiles > 1) board.publish(tile, detail::TileStatus::prefix, prefix + total);
      if (tile == tiles - 1) *a.count = prefix + total;
      shared_prefix = prefix;
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    uint32_t place = base + starts[r];
#pragma unroll
    for (int k = 0; k < kQuad; ++k)
      if (flags[r].at[k]) kept_elements[place++] = x[r].at[k];
  }
  __syncthreads();
  T* const out = static_cast<T*>(a.out) + shared_prefix;
  for (uint32_t i = threadIdx.x; i < total; i += kThreads) out[i] = kept_elements[i];
}

static int64_t tiles_of(const Args& a) { return (a.n + kTile - 1) / kTile; }
static size_t workspace(const Args& a, const DeviceInfo&) {
  return size_t(detail::look_back_bytes<uint32_t>(tiles_of(a)));
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.n == 0) return clear_count(a, stream);
  const auto tiles = uint32_t(tiles_of(a));
  if (tiles > 1)
    detail::launch_reset_tiles(a.workspace, detail::look_back_bytes<uint32_t>(tiles), stream);
  return with_raw_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const bool aligned = is_aligned(a.x, sizeof(Quad<T>)) && is_aligned(a.flags, kQuad);
    const auto kernel = aligned ? compact_tiles<T, true> : compact_tiles<T, false>;
    kernel<<<tiles, kThreads, 0, stream>>>(a, a.workspace, tiles);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "one pass: tiles ask their predecessors",
                             .supports = moves,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.barriers = 3}};

}  // namespace ridge::stream_compaction::look_back
