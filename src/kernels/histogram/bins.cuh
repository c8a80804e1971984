// What the rungs of histogram share: how an element becomes a bin, and the walk over the elements.
#pragma once

#include "device/allow_shared.cuh"
#include "device/clear.cuh"
#include "device/from_detail.cuh"
#include "device/lanes.cuh"
#include "kernels/histogram/histogram.h"

namespace ridge::histogram {

// From an element to its bin. kSpare: the values of an element that no call can exclude, which a
// table has to have room for; 0 where a bin beyond the last means that nothing is counted.
struct ByteBins {
  using Element = uint8_t;
  static constexpr int kSpare = 256;  // a table of 256 needs no comparison
  __device__ __forceinline__ uint32_t operator()(uint8_t x) const { return x; }
};
struct WordBins {
  using Element = uint32_t;
  static constexpr int kSpare = 0;
  __device__ __forceinline__ uint32_t operator()(uint32_t x) const { return x; }
};
struct FloatBins {
  using Element = float;
  static constexpr int kSpare = 0;
  EvenBins even;
  __device__ __forceinline__ uint32_t operator()(float x) const { return uint32_t(even(x)); }
};

template <class F>
Status with_bins(const Args& a, F f) {
  switch (a.dtype) {
    case Dtype::u8: return f(ByteBins());
    case Dtype::u32: return f(WordBins());
    default: return f(FloatBins{EvenBins(a.lower, a.upper, a.bins)});
  }
}
constexpr bool is_counted(Dtype dtype) {
  return dtype == Dtype::u8 || dtype == Dtype::u32 || dtype == Dtype::f32;
}
constexpr const char* kNotCounted = "counts u8, u32 and f32";

inline Status clear_counts(const Args& a, cudaStream_t stream) {
  return clear_words(a.counts, size_t(a.bins), stream);
}

// The blocks stay and stride over the packs; each thread has kUnroll packs under way. 64 KB per SM,
// with two blocks, is what an H200 needs to read at its full rate.
constexpr int kThreads = 512;
constexpr int kBlocksPerSm = 2;
constexpr int kUnroll = 4;

// Packs of 16 bytes, from the first element that is aligned. What lies before and behind them is
// the ends, fewer than two packs.
template <class T>
struct Walk {
  const T* x;
  int64_t n, packs;
  int head;

  __device__ explicit Walk(const Args& a) : x(static_cast<const T*>(a.x)), n(a.n) {
    head = int(min(int64_t(elements_to_alignment(x)), n));
    packs = (n - head) / kPackSize<T>;
  }
  // Calls f(element) for all elements of this thread, and between(), where all threads of the block
  // come by, after at most kUnroll packs.
  template <class F, class Between>
  __device__ __forceinline__ void each(F f, Between between) const {
    const int64_t all = int64_t(gridDim.x) * kThreads;
    for (int64_t first = int64_t(blockIdx.x) * kThreads; first < packs; first += all * kUnroll) {
      Pack<T> some[kUnroll];
      bool is_there[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const int64_t i = first + u * all + threadIdx.x;
        is_there[u] = i < packs;
        if (is_there[u]) some[u] = load_pack(x + head + i * kPackSize<T>);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (!is_there[u]) continue;
#pragma unroll
        for (int k = 0; k < kPackSize<T>; ++k) f(static_cast<const Pack<T>&>(some[u])[k]);
      }
      between();
    }
    if (blockIdx.x > 0) return;
    const int64_t behind = head + packs * kPackSize<T>;
    if (int(threadIdx.x) < head) f(x[threadIdx.x]);
    if (behind + threadIdx.x < n) f(x[behind + threadIdx.x]);
  }
  template <class F>
  __device__ __forceinline__ void each(F f) const {
    each(f, [] {});
  }
};

// No more blocks than have a pack per thread.
inline unsigned walking_blocks(const Args& a, const DeviceInfo& device, int per_sm) {
  const double packs = bytes(a) / kPackBytes;
  const auto enough = int64_t(packs / kThreads) + 1;
  return unsigned(std::min<int64_t>(enough, int64_t(per_sm) * device.sm_count));
}

inline int table_bins(const Args& a) {
  return a.dtype == Dtype::u8 ? std::max(a.bins, 256) : a.bins;
}

}  // namespace ridge::histogram
