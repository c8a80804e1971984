// Texture and surface objects.
#include "vm/cudart/errors.h"
#include "vm/cudart/textures.h"

using namespace ridge::vm::cudart;

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* sampler,
                                    const cudaResourceViewDesc* view) {
  return api([&] { return make_texture(texture, resource, sampler, view); });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return api([&] { return destroy_texture(texture); });
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
  return api([&] {
    return resource ? describe_texture(texture, resource, nullptr, nullptr) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* sampler, cudaTextureObject_t texture) {
  return api([&] {
    return sampler ? describe_texture(texture, nullptr, sampler, nullptr) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                 cudaTextureObject_t texture) {
  return api([&] {
    return view ? describe_texture(texture, nullptr, nullptr, view) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
  return api([&] { return make_surface(surface, resource); });
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return api([&] { return destroy_surface(surface); });
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface) {
  return api(
      [&] { return resource ? describe_surface(surface, resource) : cudaErrorInvalidValue; });
}

}  // extern "C"
