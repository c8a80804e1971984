// Between the driver's descriptions of arrays, textures and surfaces and the runtime's.
#pragma once

#include "vm/driver/api.h"
#include "vm/driver/result.h"

namespace ridge::vm::driver {

struct ArrayShape {
  cudaChannelFormatDesc desc{};
  cudaExtent extent{};
  unsigned flags = 0;
};

// Formats the software GPU has no texels for come out as ones the runtime refuses by name.
cudaError_t channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc* desc);
cudaError_t format_of(const cudaChannelFormatDesc& desc, CUarray_format* format,
                      unsigned* channels);
cudaError_t shape_of(const CUDA_ARRAY3D_DESCRIPTOR& description, ArrayShape* shape);
cudaError_t description_of(CUarray array, CUDA_ARRAY3D_DESCRIPTOR* description);

cudaError_t resource_of(const CUDA_RESOURCE_DESC* resource, cudaResourceDesc* same);
cudaError_t resource_of(const cudaResourceDesc& resource, CUDA_RESOURCE_DESC* same);
// The driver reads small integers as fractions unless told otherwise, so what a sampler means
// depends on the resource.
cudaError_t sampler_of(const CUDA_TEXTURE_DESC& sampler, const cudaResourceDesc& resource,
                       cudaTextureDesc* same);
cudaError_t sampler_of(const cudaTextureDesc& sampler, const cudaResourceDesc& resource,
                       CUDA_TEXTURE_DESC* same);
cudaResourceViewDesc view_of(const CUDA_RESOURCE_VIEW_DESC& view);
CUDA_RESOURCE_VIEW_DESC view_of(const cudaResourceViewDesc& view);

}  // namespace ridge::vm::driver
