// What the planted programs share.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                            \
  do {                                                         \
    const cudaError_t error = (call);                          \
    if (error != cudaSuccess) {                                \
      std::fprintf(stderr, "%s\n", cudaGetErrorString(error)); \
      std::exit(1);                                            \
    }                                                          \
  } while (0)

constexpr int kBlocks = 1056, kThreads = 128;

__device__ inline int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Memory that starts with zeros.
template <class T = float>
T* zeros(size_t count) {
  T* memory;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}
