// Decoupled look-back (Merrill and Garland, 2016): the blocks of one launch pass a running value
// from tile to tile, without waiting for all earlier tiles to finish.
//
// Tiles are numbered in the order in which blocks take them, so every tile that another tile waits
// for is already running. A tile first publishes its aggregate, the value of its own elements. Then
// it looks at its predecessors, nearest first, and adds up aggregates until it finds a tile that
// has published its prefix, the value of everything up to and including that tile. Then it
// publishes its own prefix.
//
// A word holds a status and four bytes of the value, and is written and read as a whole. A value of
// more than four bytes takes several words, each with its own status. The value is complete when
// all its words have the same status, because a tile writes each status once. So no access is wider
// than eight bytes, which every GPU reads and writes at once; no fence is needed, and values may
// have any size.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ridge::detail {

constexpr int kWarpLanes = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

// A value of any type, four bytes at a time, through `move`.
template <class T, class Move>
__device__ __forceinline__ T moved(const T& value, Move move) {
  static_assert(std::is_trivially_copyable_v<T>, "values travel as bytes");
  constexpr int kWords = (int(sizeof(T)) + 3) / 4;
  uint32_t words[kWords] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = move(words[i]);
  T result;
  memcpy(&result, words, sizeof(T));
  return result;
}
template <class T>
__device__ __forceinline__ T from_lane(const T& value, int lane) {
  return moved(value, [=](uint32_t w) { return __shfl_sync(kAllLanes, w, lane); });
}
template <class T>
__device__ __forceinline__ T from_lane_below(const T& value, int distance) {
  return moved(value, [=](uint32_t w) { return __shfl_up_sync(kAllLanes, w, distance); });
}
template <class T>
__device__ __forceinline__ T from_lane_above(const T& value, int distance) {
  return moved(value, [=](uint32_t w) { return __shfl_down_sync(kAllLanes, w, distance); });
}

enum class TileStatus : uint32_t { empty = 0, aggregate = 1, prefix = 2 };

// In device memory: a counter that hands out tiles, then the tiles' words.
constexpr int64_t kTicketBytes = 128;  // a cache line of its own: the words are being polled

// In ns. Looking too early is worse than looking late: every look is traffic in the L2 cache, where
// the awaited tiles have to publish. On an H200 the first pause makes a scan of 2^28 numbers a
// tenth faster.
constexpr unsigned kFirstPause = 1500;
// The first tiles start together and do not wait long. In a scan of 2^20 numbers, all tiles are
// such.
constexpr int64_t kTilesWithoutPause = 512;
constexpr unsigned kPollPause = 20;  // between looks at a tile that is late

template <class T>
constexpr int kWordsPerTile = (int(sizeof(T)) + 3) / 4;

template <class T>
constexpr int64_t look_back_bytes(int64_t tiles) {
  return kTicketBytes + tiles * kWordsPerTile<T> * int64_t(sizeof(uint64_t));
}

template <class T>
class TileBoard {
 public:
  __device__ explicit TileBoard(void* memory)
      : ticket_(static_cast<uint32_t*>(memory)),
        words_(reinterpret_cast<uint64_t*>(static_cast<char*>(memory) + kTicketBytes)) {}

  // By one thread.
  __device__ __forceinline__ uint32_t take_tile() const { return atomicAdd(ticket_, 1u); }

  // By one thread.
  __device__ __forceinline__ void publish(int64_t tile, TileStatus status, const T& value) const {
    uint32_t parts[kWords] = {};
    memcpy(parts, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      __nv_atomic_store_n(words_ + tile * kWords + i, uint64_t(status) << 32 | parts[i],
                          __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  }

  // The value of all tiles before this one, in every lane of the calling warp. A lane reads
  // kTilesPerLane tiles at a time, so that a window spans 32 times as many.
  template <int kTilesPerLane, class Op>
  __device__ __forceinline__ T look_back(int64_t tile, const Op& op) const {
    const int lane = int(threadIdx.x) % kWarpLanes;
    constexpr int kWindow = kWarpLanes * kTilesPerLane;
    T running = op.identity();  // lane 0: from the start of the window to `tile`
    if (tile >= kTilesWithoutPause) __nanosleep(kFirstPause);
    for (int64_t first = tile - kWindow;; first -= kWindow) {
      T mine = op.identity();
      uint32_t with_prefix, needed;
      while (true) {
        uint64_t words[kTilesPerLane][kWords];
#pragma unroll
        for (int k = 0; k < kTilesPerLane; ++k) load(first + lane * kTilesPerLane + k, words[k]);
        mine = op.identity();
        bool ended = false, missing = false;
#pragma unroll
        for (int k = kTilesPerLane - 1; k >= 0; --k) {
          if (first + lane * kTilesPerLane + k < 0) {  // before the first tile there is nothing
            ended = true;
          } else if (!ended) {
            const TileStatus status = status_of(words[k]);
            missing |= status == TileStatus::empty;
            mine = op(value_of(words[k]), mine);
            ended = status == TileStatus::prefix;
          }
        }
        // What lies before the last prefix does not matter, there or not.
        with_prefix = __ballot_sync(kAllLanes, ended);
        needed = with_prefix ? kAllLanes << (31 - __clz(int(with_prefix))) : kAllLanes;
        if (!(__ballot_sync(kAllLanes, missing) & needed)) break;
        __nanosleep(kPollPause);
      }
      if (!(needed >> lane & 1)) mine = op.identity();
#pragma unroll
      for (int d = 1; d < kWarpLanes; d *= 2) {
        const T above = from_lane_above(mine, d);
        if (lane + d < kWarpLanes) mine = op(mine, above);
      }
      running = op(mine, running);
      if (with_prefix) return from_lane(running, 0);
    }
  }

 private:
  static constexpr int kWords = kWordsPerTile<T>;

  __device__ __forceinline__ void load(int64_t tile, uint64_t (&words)[kWords]) const {
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      words[i] = tile < 0 ? 0
                          : __nv_atomic_load_n(words_ + tile * kWords + i, __NV_ATOMIC_RELAXED,
                                               __NV_THREAD_SCOPE_DEVICE);
  }
  __device__ static __forceinline__ TileStatus status_of(const uint64_t (&words)[kWords]) {
    const uint32_t status = uint32_t(words[0] >> 32);
    bool alike = true;
#pragma unroll
    for (int i = 1; i < kWords; ++i) alike &= uint32_t(words[i] >> 32) == status;
    return alike ? TileStatus(status) : TileStatus::empty;
  }
  __device__ static __forceinline__ T value_of(const uint64_t (&words)[kWords]) {
    uint32_t parts[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) parts[i] = uint32_t(words[i]);
    T value;
    memcpy(&value, parts, sizeof(T));
    return value;
  }

  uint32_t* ticket_;
  uint64_t* words_;
};

// Whatever the memory held, nothing is published and tile 0 is next. Enqueue it before each launch.
template <int kThreads = 256>
__global__ void __launch_bounds__(kThreads) reset_tiles(uint64_t* memory, int64_t words) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < words) memory[i] = 0;
}
inline void launch_reset_tiles(void* memory, int64_t bytes, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const int64_t words = bytes / int64_t(sizeof(uint64_t));
  reset_tiles<kThreads><<<unsigned((words + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      static_cast<uint64_t*>(memory), words);
}

}  // namespace ridge::detail
