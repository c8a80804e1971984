// Tensor maps: what the copy engine has to know of a tensor in global memory. Made on the host for
// each launch, since a map holds the pointer.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/status.h"

namespace ridge {

struct TensorMapSpec {
  const void* base;   // a multiple of 16
  int element_bytes;  // 1, 2 or 4
  bool rounds_to_tf32 = false;  // f32 elements, on their way to shared memory
  uint64_t size[3];   // elements, the fastest dimension first
  uint64_t pitch[2];  // bytes from row to row and from matrix to matrix: multiples of 16
  uint32_t box[3];  // elements; box[0] has 128, 64 or 32 bytes, which is the width of the swizzle,
                    // or more: then there is no swizzle
};

// In shared memory, 16-byte chunk k of a box's 128-byte row r lies at k ^ r % 8; of a 64-byte row,
// at k ^ r / 2 % 4.
inline Expected<CUtensorMap> make_tensor_map(const TensorMapSpec& spec) {
  // The function is the driver's, which the runtime has open.
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                             12000, cudaEnableDefault, &result);
  if (error != cudaSuccess || result != cudaDriverEntryPointSuccess)
    return Error{int(cudaErrorNotSupported), "the driver cannot make tensor maps"};
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  const CUtensorMapDataType type = spec.element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : spec.element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : spec.rounds_to_tf32     ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                                                             : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  const int row_bytes = int(spec.box[0]) * spec.element_bytes;
  const CUtensorMapSwizzle swizzle = row_bytes == 32    ? CU_TENSOR_MAP_SWIZZLE_32B
                                     : row_bytes == 64  ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : row_bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                                                        : CU_TENSOR_MAP_SWIZZLE_NONE;
  constexpr cuuint32_t kEveryElement[3] = {1, 1, 1};
  CUtensorMap map;
  const CUresult made =
      encode(&map, type, 3, const_cast<void*>(spec.base), spec.size, spec.pitch, spec.box,
             kEveryElement, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made != CUDA_SUCCESS)
    return Error{int(cudaErrorInvalidValue), "the driver refuses the tensor map"};
  return map;
}

}  // namespace ridge
