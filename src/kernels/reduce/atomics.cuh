// One word of memory that all threads may change: how each operator merges a value into it.
#pragma once

#include "kernels/reduce/operators.cuh"

namespace ridge::reduce {

// Sums: the memory adds by itself.
template <class Op>
struct Shared {
  using Acc = reduction::AccOf<Op>;
  using Word = std::conditional_t<std::is_same_v<Acc, float>, float, unsigned long long>;
  static __device__ Word encoded(Acc a) { return Word(a); }
  static __device__ Acc decoded(Word w) { return Acc(w); }
  static __device__ void merge(const Op&, Word* word, Acc a) { atomicAdd(word, Word(a)); }
};

// There is no atomic maximum of floats, but their ranks are integers. NaN has the rank with which
// it wins.
__device__ __forceinline__ uint32_t ordered(float x, uint32_t nan) {
  return x != x ? nan : reduction::rank_of(x);
}
__device__ __forceinline__ float unordered(uint32_t key) {
  if (key == 0 || key == 0xffffffffu) return __uint_as_float(0x7fffffffu);
  return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

template <>
struct Shared<reduction::Max<float>> {
  using Word = unsigned;
  static __device__ Word encoded(float a) { return ordered(a, 0xffffffffu); }
  static __device__ float decoded(Word w) { return unordered(w); }
  static __device__ void merge(const reduction::Max<float>&, Word* word, float a) {
    atomicMax(word, encoded(a));
  }
};
template <>
struct Shared<reduction::Min<float>> {
  using Word = unsigned;
  static __device__ Word encoded(float a) { return ordered(a, 0); }
  static __device__ float decoded(Word w) { return unordered(w); }
  static __device__ void merge(const reduction::Min<float>&, Word* word, float a) {
    atomicMin(word, encoded(a));
  }
};
template <>
struct Shared<reduction::Max<int32_t>> {
  using Word = int32_t;
  static __device__ Word encoded(int32_t a) { return a; }
  static __device__ int32_t decoded(Word w) { return w; }
  static __device__ void merge(const reduction::Max<int32_t>&, Word* word, int32_t a) {
    atomicMax(word, a);
  }
};
template <>
struct Shared<reduction::Min<int32_t>> {
  using Word = int32_t;
  static __device__ Word encoded(int32_t a) { return a; }
  static __device__ int32_t decoded(Word w) { return w; }
  static __device__ void merge(const reduction::Min<int32_t>&, Word* word, int32_t a) {
    atomicMin(word, a);
  }
};

// The rank above, the index below, reversed so that the first of equal values is the largest.
template <class E>
struct Shared<reduction::ArgMax<E>> {
  using Word = unsigned long long;
  using Acc = reduction::Best;
  static __device__ Word encoded(Acc a) {
    if (a.index == INT64_MAX) return 0;
    return Word(a.rank) << 32 | uint32_t(~uint32_t(a.index));
  }
  static __device__ Acc decoded(Word w) {
    if (w == 0) return {INT64_MAX, 0};
    return {int64_t(uint32_t(~uint32_t(w))), 0};
  }
  static __device__ void merge(const reduction::ArgMax<E>&, Word* word, Acc a) {
    atomicMax(word, encoded(a));
  }
};

// There is no atomic product: read, multiply, and write if no other thread has written meanwhile.
template <class E>
struct Shared<reduction::Product<E>> {
  using Acc = reduction::Wide<E>;
  using Word = std::conditional_t<std::is_same_v<E, float>, unsigned, unsigned long long>;
  static __device__ Word encoded(Acc a) {
    if constexpr (std::is_same_v<E, float>) return __float_as_uint(a);
    else return Word(a);
  }
  static __device__ Acc decoded(Word w) {
    if constexpr (std::is_same_v<E, float>) return __uint_as_float(w);
    else return Acc(w);
  }
  static __device__ void merge(const reduction::Product<E>& op, Word* word, Acc a) {
    Word seen = *word, before;
    do {
      before = seen;
      seen = atomicCAS(word, before, encoded(op.combine(decoded(before), a)));
    } while (seen != before);
  }
};

namespace shared_word {

// The word must hold the identity before the first thread merges into it, and is finished after the
// last.
template <class Op>
__global__ void prepare(Op op, typename Shared<Op>::Word* word) {
  *word = Shared<Op>::encoded(op.identity());
}
template <class Op, class Out>
__global__ void finish(Op op, const typename Shared<Op>::Word* word, int64_t n, Out* out) {
  *out = reduction::finished<Out>(op, Shared<Op>::decoded(*word), n);
}

inline size_t workspace(const Args&, const DeviceInfo&) { return sizeof(unsigned long long); }
inline Support supports(const Args& a, const DeviceInfo& device) {
  if (a.kind == Kind::argmax && a.n > int64_t(UINT32_MAX))
    return "an index and a value share 64 bits: not for more than 2^32 elements";
  return supports_all(a, device);
}

}  // namespace shared_word
}  // namespace ridge::reduce
