// What the first rungs of vote need to set bits one by one.
#pragma once

#include "device/clear.cuh"
#include "kernels/vote/vote.h"

namespace ridge::vote {

constexpr int kThreads = 256;

inline Status clear_bits(const Args& a, cudaStream_t stream) {
  return clear_words(a.first, size_t(masks(a.n)), stream);
}
__device__ __forceinline__ void set_bit(const Args& a, int64_t i) {
  atomicOr(&a.first[i / kLanes], 1u << (i % kLanes));
}

}  // namespace ridge::vote
