// Channel descriptors and view formats, as texel formats.
#pragma once

#include "vm/cudart/api.h"
#include "vm/texture/format.h"

namespace ridge::vm::cudart {

// cudaErrorInvalidChannelDescriptor for what no texel is; compressed and planar ones are refused by
// name.
cudaError_t format_of(const cudaChannelFormatDesc& desc, texture::Format* format);
cudaError_t format_of(cudaResourceViewFormat view, texture::Format* format);

// How many texels a texture of linear memory may have: 2^30, within 4 GiB.
size_t max_linear_width(const texture::Format& format);

}  // namespace ridge::vm::cudart
