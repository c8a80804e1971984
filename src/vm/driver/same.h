// What the driver and the runtime have in common under two names.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace ridge::vm::driver {

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

inline cudaArray_t same(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

inline cudaMipmappedArray_t same(CUmipmappedArray array) {
  return reinterpret_cast<cudaMipmappedArray_t>(array);
}

inline cudaMemLocation* same(CUmemLocation* locations) {
  static_assert(sizeof *locations == sizeof(cudaMemLocation));
  return reinterpret_cast<cudaMemLocation*>(locations);
}

inline cudaGraphEdgeData* same(CUgraphEdgeData* edges) {
  static_assert(sizeof *edges == sizeof(cudaGraphEdgeData));
  return reinterpret_cast<cudaGraphEdgeData*>(edges);
}

inline const cudaGraphEdgeData* same(const CUgraphEdgeData* edges) {
  return reinterpret_cast<const cudaGraphEdgeData*>(edges);
}

}  // namespace ridge::vm::driver
