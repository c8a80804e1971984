// CUDA arrays and mipmapped arrays: making, freeing, asking.
#include "vm/cudart/arrays.h"

#include "vm/cudart/capture.h"
#include "vm/driver/array_params.h"
#include "vm/driver/contexts.h"
#include "vm/driver/same.h"

using namespace ridge::vm;
using namespace ridge::vm::driver;

namespace {

template <class Body>
CUresult unsafe_call(Body&& body) {  // a capture forbids it, as it does allocation
  return context_call([&] {
    if (const cudaError_t error = cudart::check_unsafe()) return error;
    return body();
  });
}

CUDA_ARRAY3D_DESCRIPTOR three_dimensional(const CUDA_ARRAY_DESCRIPTOR& d) {
  return {d.Width, d.Height, 0, d.Format, d.NumChannels, 0};
}

}  // namespace

extern "C" {

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  return unsafe_call([&] {
    ArrayShape shape;
    if (!array || !description) return cudaErrorInvalidValue;
    if (const cudaError_t error = shape_of(*description, &shape)) return error;
    cudaArray_t made = nullptr;
    if (const cudaError_t error = cudart::make_array(&made, &shape.desc, shape.extent, shape.flags))
      return error;
    *array = reinterpret_cast<CUarray>(made);
    own(made, [made] { cudart::free_array(made); });
    return cudaSuccess;
  });
}
CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* description) {
  const CUDA_ARRAY3D_DESCRIPTOR flat =
      description ? three_dimensional(*description) : CUDA_ARRAY3D_DESCRIPTOR{};
  return cuArray3DCreate_v2(array, description ? &flat : nullptr);
}
// The first versions have sizes of 32 bits.
CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR_v1* d) {
  if (!d) return cuArray3DCreate_v2(array, nullptr);
  const CUDA_ARRAY3D_DESCRIPTOR wide{d->Width,  d->Height,      d->Depth,
                                     d->Format, d->NumChannels, d->Flags};
  return cuArray3DCreate_v2(array, &wide);
}
CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR_v1* d) {
  if (!d) return cuArrayCreate_v2(array, nullptr);
  const CUDA_ARRAY_DESCRIPTOR wide{d->Width, d->Height, d->Format, d->NumChannels};
  return cuArrayCreate_v2(array, &wide);
}

CUresult cuArrayDestroy(CUarray array) {
  return unsafe_call([&] {
    if (!array) return kInvalidHandle;
    if (const cudaError_t error = cudart::free_array(same(array))) return error;
    disown(array);
    return cudaSuccess;
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  return context_call([&] { return description_of(array, description); });
}
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* d, CUarray array) {
  return context_call([&] {
    CUDA_ARRAY3D_DESCRIPTOR whole{};
    if (!d) return cudaErrorInvalidValue;
    if (const cudaError_t error = description_of(array, &whole)) return error;
    *d = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
    return cudaSuccess;
  });
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1* d, CUarray array) {
  return context_call([&] {
    CUDA_ARRAY3D_DESCRIPTOR wide{};
    if (!d) return cudaErrorInvalidValue;
    if (const cudaError_t error = description_of(array, &wide)) return error;
    *d = {unsigned(wide.Width), unsigned(wide.Height), unsigned(wide.Depth),
          wide.Format,          wide.NumChannels,      wide.Flags};
    return cudaSuccess;
  });
}
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1* d, CUarray array) {
  CUDA_ARRAY_DESCRIPTOR wide{};
  const CUresult result = cuArrayGetDescriptor_v2(d ? &wide : nullptr, array);
  if (result == CUDA_SUCCESS)
    *d = {unsigned(wide.Width), unsigned(wide.Height), wide.Format, wide.NumChannels};
  return result;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                unsigned levels) {
  return unsafe_call([&] {
    ArrayShape shape;
    if (!array || !description) return cudaErrorInvalidValue;
    if (const cudaError_t error = shape_of(*description, &shape)) return error;
    cudaMipmappedArray_t made = nullptr;
    if (const cudaError_t error =
            cudart::make_mipmapped(&made, &shape.desc, shape.extent, levels, shape.flags))
      return error;
    *array = reinterpret_cast<CUmipmappedArray>(made);
    own(made, [made] { cudart::free_mipmapped(made); });
    return cudaSuccess;
  });
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return unsafe_call([&] {
    if (!array) return kInvalidHandle;
    if (const cudaError_t error = cudart::free_mipmapped(same(array))) return error;
    disown(array);
    return cudaSuccess;
  });
}
CUresult cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray array, unsigned index) {
  return context_call([&] {
    cudaArray_t found = nullptr;
    if (!level) return cudaErrorInvalidValue;
    if (const cudaError_t error = cudaGetMipmappedArrayLevel(&found, same(array), index))
      return error;
    *level = reinterpret_cast<CUarray>(found);
    return cudaSuccess;
  });
}

// The rest asks about arrays that this device does not make: planar, sparse, without memory yet.

CUresult cuArrayGetPlane(CUarray*, CUarray array, unsigned plane) {
  return context_call([&] { return cudaArrayGetPlane(nullptr, same(array), plane); });
}
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS*, CUarray array, CUdevice) {
  return context_call([&] { return cudaArrayGetMemoryRequirements(nullptr, same(array), 0); });
}
CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS*,
                                               CUmipmappedArray array, CUdevice) {
  return context_call(
      [&] { return cudaMipmappedArrayGetMemoryRequirements(nullptr, same(array), 0); });
}
CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES*, CUarray array) {
  return context_call([&] { return cudaArrayGetSparseProperties(nullptr, same(array)); });
}
CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES*,
                                             CUmipmappedArray array) {
  return context_call([&] { return cudaMipmappedArrayGetSparseProperties(nullptr, same(array)); });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* width, CUarray_format format, unsigned channels,
                                            CUdevice device) {
  return driver_call([&] {
    cudaChannelFormatDesc desc{};
    if (const cudaError_t error = channels_of(format, channels, &desc)) return error;
    return cudaDeviceGetTexture1DLinearMaxWidth(width, &desc, device);
  });
}

}  // extern "C"
