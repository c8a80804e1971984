// Texture and surface objects.
#include "vm/cudart/textures.h"

#include "vm/driver/array_params.h"
#include "vm/driver/contexts.h"

using namespace ridge::vm;
using namespace ridge::vm::driver;

extern "C" {

CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* sampler, const CUDA_RESOURCE_VIEW_DESC* view) {
  return context_call([&] {
    cudaResourceDesc r;
    cudaTextureDesc s;
    cudaResourceViewDesc v;
    if (!texture || !sampler) return cudaErrorInvalidValue;
    if (const cudaError_t error = resource_of(resource, &r)) return error;
    if (const cudaError_t error = sampler_of(*sampler, r, &s)) return error;
    if (view) v = view_of(*view);
    cudaTextureObject_t made = 0;
    if (const cudaError_t error = cudart::make_texture(&made, &r, &s, view ? &v : nullptr))
      return error;
    *texture = made;
    return cudaSuccess;
  });
}
CUresult cuTexObjectDestroy(CUtexObject texture) {
  return context_call([&] { return cudart::destroy_texture(texture); });
}
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject texture) {
  return context_call([&] {
    cudaResourceDesc r;
    if (!resource) return cudaErrorInvalidValue;
    if (const cudaError_t error = cudart::describe_texture(texture, &r, nullptr, nullptr))
      return error;
    return resource_of(r, resource);
  });
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* sampler, CUtexObject texture) {
  return context_call([&] {
    cudaResourceDesc r;
    cudaTextureDesc s;
    if (!sampler) return cudaErrorInvalidValue;
    if (const cudaError_t error = cudart::describe_texture(texture, &r, &s, nullptr)) return error;
    return sampler_of(s, r, sampler);
  });
}
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject texture) {
  return context_call([&] {
    cudaResourceViewDesc v;
    if (!view) return cudaErrorInvalidValue;
    if (const cudaError_t error = cudart::describe_texture(texture, nullptr, nullptr, &v))
      return error;
    *view = view_of(v);
    return cudaSuccess;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
  return context_call([&] {
    cudaResourceDesc r;
    cudaSurfaceObject_t made = 0;
    if (!surface) return cudaErrorInvalidValue;
    if (const cudaError_t error = resource_of(resource, &r)) return error;
    if (const cudaError_t error = cudart::make_surface(&made, &r)) return error;
    *surface = made;
    return cudaSuccess;
  });
}
CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  return context_call([&] { return cudart::destroy_surface(surface); });
}
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject surface) {
  return context_call([&] {
    cudaResourceDesc r;
    if (!resource) return cudaErrorInvalidValue;
    if (const cudaError_t error = cudart::describe_surface(surface, &r)) return error;
    return resource_of(r, resource);
  });
}

}  // extern "C"
