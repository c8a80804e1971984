// What the programs for Hopper share: how they start, and how they are checked at a small size.
#pragma once
#include <cuda_bf16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "device/ptx/cluster.cuh"
#include "device/ptx/tma.cuh"
#include "device/tensor_map.h"
#include "programs.h"

namespace programs {

using Bf16 = __nv_bfloat16;
using Byte = unsigned char;

#define HOPPER_CHECK(call)                                                                       \
  do {                                                                                           \
    if (const cudaError_t e = (call); e != cudaSuccess) {                                        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e)); \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

// `matrix`: (rows, columns), row by row; boxes of `high` rows of 128 bytes.
inline CUtensorMap tensor_map(const void* matrix, int element_bytes, int rows, int columns,
                              int high) {
  const uint64_t pitch = uint64_t(columns) * uint64_t(element_bytes);
  const auto map =
      ridge::make_tensor_map({.base = matrix,
                              .element_bytes = element_bytes,
                              .size = {uint64_t(columns), uint64_t(rows), 1},
                              .pitch = {pitch, pitch * uint64_t(rows)},
                              .box = {uint32_t(128 / element_bytes), uint32_t(high), 1}});
  if (!map) {
    std::fprintf(stderr, "programs: no tensor map of %d x %d\n", rows, columns);
    std::exit(1);
  }
  return *map;
}

template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), dim3 grid, int threads, size_t shared, int cluster,
           cudaStream_t stream, const Arguments&... arguments) {
  HOPPER_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = unsigned(threads), config.stream = stream;
  config.dynamicSmemBytes = shared;
  config.attrs = &attribute, config.numAttrs = cluster > 1 ? 1 : 0;
  HOPPER_CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

template <class T>
std::vector<T> from_device(const void* at, size_t count) {
  std::vector<T> values(count);
  HOPPER_CHECK(cudaDeviceSynchronize());
  HOPPER_CHECK(cudaMemcpy(values.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
template <class T>
void to_device(void* at, const std::vector<T>& values) {
  HOPPER_CHECK(cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  HOPPER_CHECK(cudaDeviceSynchronize());  // the programs' stream does not wait for the default one
}

inline bool is_near(double got, double want, double tolerance) {
  return std::fabs(got - want) <= tolerance;  // never true of NaN
}

}  // namespace programs
