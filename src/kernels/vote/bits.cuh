// What the first rungs of vote need to set bits one by one.
#pragma once

#include "kernels/vote/vote.h"

namespace ridge::vote {

constexpr int kThreads = 256;

inline Status clear_bits(const Args& a, cudaStream_t stream) {
  const cudaError_t error =
      cudaMemsetAsync(a.first, 0, size_t(masks(a.n)) * sizeof(uint32_t), stream);
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("clearing the bits: ") + cudaGetErrorString(error)};
}
__device__ __forceinline__ void set_bit(const Args& a, int64_t i) {
  atomicOr(&a.first[i / kLanes], 1u << (i % kLanes));
}

}  // namespace ridge::vote
