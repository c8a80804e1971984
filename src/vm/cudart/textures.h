// Texture and surface objects: from the program's descriptors to what lookups need, and back.
#pragma once

#include "vm/cudart/api.h"

namespace ridge::vm::cudart {

cudaError_t make_texture(cudaTextureObject_t* handle, const cudaResourceDesc* resource,
                         const cudaTextureDesc* sampler, const cudaResourceViewDesc* view);
cudaError_t make_surface(cudaSurfaceObject_t* handle, const cudaResourceDesc* resource);
cudaError_t destroy_texture(cudaTextureObject_t handle);
cudaError_t destroy_surface(cudaSurfaceObject_t handle);
void forget_textures();  // and surfaces

// What an object was made from; null pointers ask for nothing. A view only where there was one.
cudaError_t describe_texture(cudaTextureObject_t handle, cudaResourceDesc* resource,
                             cudaTextureDesc* sampler, cudaResourceViewDesc* view);
cudaError_t describe_surface(cudaSurfaceObject_t handle, cudaResourceDesc* resource);

}  // namespace ridge::vm::cudart
