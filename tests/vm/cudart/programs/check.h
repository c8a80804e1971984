// What the programs share: a check that says where it failed, and counts.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>

inline int failures = 0;

#define RIDGE_CHECK(condition)                                            \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                         \
    }                                                                     \
  } while (0)
#define RIDGE_CUDA(call, expected)                                                               \
  do {                                                                                           \
    const cudaError_t got = (call);                                                              \
    if (got != (expected)) {                                                                     \
      std::printf("%s:%d: %s is %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got), \
                  cudaGetErrorName(expected));                                                   \
      ++failures;                                                                                \
    }                                                                                            \
  } while (0)
