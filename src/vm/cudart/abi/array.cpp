// CUDA arrays and mipmapped arrays: making, freeing, asking.
#include "vm/cudart/arrays.h"

#include "vm/cudart/capture.h"
#include "vm/cudart/channels.h"
#include "vm/cudart/errors.h"

using namespace ridge::vm;
using namespace ridge::vm::cudart;

namespace {

template <class Body>
cudaError_t unsafe_api(Body&& body) {  // a capture forbids it, as it does allocation
  return api([&] {
    if (const cudaError_t error = check_unsafe()) return error;
    return body();
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width,
                            size_t height, unsigned flags) {
  return unsafe_api([&] {
    if (flags & (cudaArrayLayered | cudaArrayCubemap)) return cudaErrorInvalidValue;
    return make_array(array, desc, {width, height, 0}, flags);
  });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                              cudaExtent extent, unsigned flags) {
  return unsafe_api([&] { return make_array(array, desc, extent, flags); });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  return unsafe_api([&] { return make_mipmapped(array, desc, extent, levels, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return unsafe_api([&] { return free_array(array); });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return unsafe_api([&] { return free_mipmapped(array); });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t handle,
                                       unsigned index) {
  return api([&] {
    const MipmappedRef array = find_mipmapped(handle);
    if (!level) return cudaErrorInvalidValue;
    if (!array) return cudaErrorInvalidResourceHandle;
    if (index >= array->levels.size()) return cudaErrorInvalidValue;
    *level = reinterpret_cast<cudaArray_t>(array->levels[index].get());
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
                             cudaArray_t handle) {
  return api([&] {
    const ArrayRef array = find_array(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    if (desc) *desc = array->desc;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
  });
}

// The rest asks about arrays that this device does not make: planar, sparse, without memory yet.
// Of any other array the real answer is cudaErrorInvalidValue, too.

cudaError_t cudaArrayGetPlane(cudaArray_t*, cudaArray_t array, unsigned) {
  return api(
      [&] { return find_array(array) ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements*, cudaArray_t array, int) {
  return api(
      [&] { return find_array(array) ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements*,
                                                    cudaMipmappedArray_t array, int) {
  return api([&] {
    return find_mipmapped(array) ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties*, cudaArray_t array) {
  return api(
      [&] { return find_array(array) ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties*,
                                                  cudaMipmappedArray_t array) {
  return api([&] {
    return find_mipmapped(array) ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* width, const cudaChannelFormatDesc* desc,
                                                 int device) {
  return api([&] {
    texture::Format format;
    if (!width || !desc) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    if (const cudaError_t error = format_of(*desc, &format)) return error;
    *width = max_linear_width(format);
    return cudaSuccess;
  });
}

}  // extern "C"
