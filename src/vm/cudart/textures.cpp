#include "vm/cudart/textures.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "vm/cudart/arrays.h"
#include "vm/cudart/channels.h"
#include "vm/cudart/device.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

using texture::Image;
using texture::Level;
using texture::Object;

struct Description {
  cudaResourceDesc resource{};
  cudaTextureDesc sampler{};
  std::optional<cudaResourceViewDesc> view;
};
struct AllTextures {
  std::mutex mutex;
  std::unordered_map<uint64_t, Description> textures, surfaces;
};
AllTextures& all_textures() {
  static AllTextures& instance = *new AllTextures;
  return instance;
}

int limit(cudaDeviceAttr attribute) { return *device_attribute(runtime().gpu(), attribute); }

// Memory of the device as rows of texels. A texture may be made of more memory than there is: its
// lookups end where the allocation does.
cudaError_t memory_image(const void* start, int dimensions, size_t width, size_t height,
                         size_t pitch, Object* object) {
  Image& image = object->image;
  image.linear = true;
  image.dimensions = dimensions;
  const auto address = reinterpret_cast<uint64_t>(start);
  if (!start || address % uint64_t(limit(cudaDevAttrTextureAlignment)))
    return cudaErrorInvalidValue;
  const auto allocation = find_allocation(start);
  if (!allocation) return cudaErrorInvalidValue;
  const size_t bytes = allocation->end() - address;
  const size_t columns = std::min(width, bytes / image.format.bytes());
  size_t rows = 1;
  if (image.dimensions == 2) {
    const size_t row = columns * image.format.bytes();
    if (row) rows = std::min(height, (bytes - row) / pitch + 1);
    else rows = 0;
  }
  Level level;
  level.base = runtime().engine.memory().place(address);
  level.width = uint32_t(columns);
  level.height = uint32_t(rows);
  level.pitch = pitch;
  image.levels = {level};
  object->memory = address;
  object->allocation_id = allocation->id;
  return cudaSuccess;
}

cudaError_t linear_image(const cudaResourceDesc& resource, Object* object) {
  const auto& r = resource.res.linear;
  if (const cudaError_t error = format_of(r.desc, &object->image.format)) return error;
  const size_t width = r.sizeInBytes / object->image.format.bytes();
  if (width > max_linear_width(object->image.format)) return cudaErrorInvalidValue;
  return memory_image(r.devPtr, 1, width, 1, 0, object);
}

cudaError_t pitched_image(const cudaResourceDesc& resource, Object* object) {
  const auto& r = resource.res.pitch2D;
  if (const cudaError_t error = format_of(r.desc, &object->image.format)) return error;
  const bool fits = r.width <= size_t(limit(cudaDevAttrMaxTexture2DLinearWidth)) &&
                    r.height <= size_t(limit(cudaDevAttrMaxTexture2DLinearHeight)) &&
                    r.pitchInBytes <= size_t(limit(cudaDevAttrMaxTexture2DLinearPitch)) &&
                    r.pitchInBytes >= r.width * object->image.format.bytes() &&
                    r.pitchInBytes % size_t(limit(cudaDevAttrTexturePitchAlignment)) == 0;
  if (!fits) return cudaErrorInvalidValue;
  return memory_image(r.devPtr, 2, r.width, r.height, r.pitchInBytes, object);
}

// An array's levels are named by the device's addresses; lookups want to know where they lie.
Level placed(Level level) {
  level.base = runtime().engine.memory().place(level.base);
  return level;
}

void array_image(const Array& array, Object* object) {
  object->image = array.image;
  for (Level& level : object->image.levels) level = placed(level);
  object->memory = reinterpret_cast<uint64_t>(array.level().base);
  object->allocation_id = array.allocation_id;
}

cudaError_t image_of(const cudaResourceDesc& resource, Object* object) {
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const ArrayRef array = find_array(resource.res.array.array);
      if (!array) return cudaErrorInvalidResourceHandle;
      array_image(*array, object);
      return cudaSuccess;
    }
    case cudaResourceTypeMipmappedArray: {
      const MipmappedRef array = find_mipmapped(resource.res.mipmap.mipmap);
      if (!array) return cudaErrorInvalidResourceHandle;
      array_image(*array->levels.front(), object);
      object->image.levels.clear();
      for (const ArrayRef& level : array->levels)
        object->image.levels.push_back(placed(level->level()));
      return cudaSuccess;
    }
    case cudaResourceTypeLinear: return linear_image(resource, object);
    case cudaResourceTypePitch2D: return pitched_image(resource, object);
  }
  return cudaErrorInvalidValue;
}

// A view is a range of levels and layers, seen in another format of the same size. Linear memory
// has none, and does not mind.
cudaError_t apply(const cudaResourceViewDesc& view, Image& image) {
  if (image.linear) return cudaSuccess;
  const Level& base = image.levels.front();
  texture::Format format;
  if (const cudaError_t error = format_of(view.format, &format)) return error;
  if (format.bytes() != image.format.bytes()) return cudaErrorInvalidValue;
  image.format = format;
  const auto agrees = [](size_t said, size_t is) { return said == is || (said == 0 && is == 1); };
  if (view.width != base.width || !agrees(view.height, base.height)) return cudaErrorInvalidValue;
  if (!image.layers && !agrees(view.depth, base.depth)) return cudaErrorInvalidValue;
  if (view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= image.levels.size())
    return cudaErrorInvalidValue;
  if (view.firstLayer > view.lastLayer || view.lastLayer >= std::max(1u, image.layers))
    return cudaErrorInvalidValue;
  image.levels = {image.levels.begin() + view.firstMipmapLevel,
                  image.levels.begin() + view.lastMipmapLevel + 1};
  if (!image.layers) return cudaSuccess;
  image.layers = view.lastLayer - view.firstLayer + 1;
  if (image.cube && image.layers % 6) return cudaErrorInvalidValue;
  for (Level& level : image.levels) level.base += view.firstLayer * level.slice;
  return cudaSuccess;
}

cudaError_t sampler_of(const cudaTextureDesc& desc, const Image& image, texture::Sampler* sampler) {
  const auto known = [](int value, int most) { return value >= 0 && value <= most; };
  for (int a = 0; a < 3; ++a) {
    if (!known(desc.addressMode[a], cudaAddressModeBorder)) return cudaErrorInvalidValue;
    sampler->address[a] = texture::Address(desc.addressMode[a]);
  }
  if (!known(desc.filterMode, cudaFilterModeLinear) ||
      !known(desc.mipmapFilterMode, cudaFilterModeLinear))
    return cudaErrorInvalidValue;
  sampler->linear = desc.filterMode == cudaFilterModeLinear;
  sampler->mip_linear = desc.mipmapFilterMode == cudaFilterModeLinear;
  sampler->normalized_coordinates = desc.normalizedCoords != 0;
  sampler->seamless_cube = desc.seamlessCubemap != 0;
  sampler->reading = {desc.readMode == cudaReadModeNormalizedFloat, desc.sRGB != 0};
  std::copy(std::begin(desc.borderColor), std::end(desc.borderColor), sampler->border);
  sampler->bias = desc.mipmapLevelBias;
  sampler->min_level = desc.minMipmapLevelClamp;
  sampler->max_level = desc.maxMipmapLevelClamp;
  const bool fractions = !image.format.is_integer() && image.format.kind != texture::Channel::real;
  if (sampler->reading.normalized && image.format.is_integer() && image.format.bits == 32)
    return cudaErrorInvalidNormSetting;
  if (!sampler->reading.normalized && fractions && image.format.bits != 10)
    return cudaErrorInvalidNormSetting;
  if (sampler->linear && !reads_as_float(image.format, sampler->reading))
    return cudaErrorInvalidFilterSetting;
  return cudaSuccess;
}

}  // namespace

cudaError_t make_texture(cudaTextureObject_t* handle, const cudaResourceDesc* resource,
                         const cudaTextureDesc* sampler, const cudaResourceViewDesc* view) {
  if (!sampler) return cudaErrorInvalidResourceHandle;
  if (!handle || !resource) return cudaErrorInvalidValue;
  Object object;
  if (const cudaError_t error = image_of(*resource, &object)) return error;
  if (view)
    if (const cudaError_t error = apply(*view, object.image)) return error;
  if (const cudaError_t error = sampler_of(*sampler, object.image, &object.sampler)) return error;
  *handle = runtime().engine.textures().add(std::move(object));
  Description description{*resource, *sampler, std::nullopt};
  if (view) description.view = *view;
  const std::lock_guard lock(all_textures().mutex);
  all_textures().textures.emplace(*handle, description);
  return cudaSuccess;
}

cudaError_t make_surface(cudaSurfaceObject_t* handle, const cudaResourceDesc* resource) {
  if (!handle || !resource || resource->flags) return cudaErrorInvalidValue;
  if (resource->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
  const ArrayRef array = find_array(resource->res.array.array);
  if (!array) return cudaErrorInvalidResourceHandle;
  Object object;
  object.kind = Object::Kind::surface;
  array_image(*array, &object);
  *handle = runtime().engine.textures().add(std::move(object));
  const std::lock_guard lock(all_textures().mutex);
  all_textures().surfaces.emplace(*handle, Description{*resource, {}, std::nullopt});
  return cudaSuccess;
}

// Handles that mean nothing are destroyed with success.

cudaError_t destroy_texture(cudaTextureObject_t handle) {
  if (!runtime().engine.textures().destroy(handle, Object::Kind::texture)) return cudaSuccess;
  const std::lock_guard lock(all_textures().mutex);
  all_textures().textures.erase(handle);
  return cudaSuccess;
}

cudaError_t destroy_surface(cudaSurfaceObject_t handle) {
  if (!runtime().engine.textures().destroy(handle, Object::Kind::surface)) return cudaSuccess;
  const std::lock_guard lock(all_textures().mutex);
  all_textures().surfaces.erase(handle);
  return cudaSuccess;
}

void forget_textures() {
  runtime().engine.textures().destroy_all();
  const std::lock_guard lock(all_textures().mutex);
  all_textures().textures.clear();
  all_textures().surfaces.clear();
}

cudaError_t describe_texture(cudaTextureObject_t handle, cudaResourceDesc* resource,
                             cudaTextureDesc* sampler, cudaResourceViewDesc* view) {
  const std::lock_guard lock(all_textures().mutex);
  const auto found = all_textures().textures.find(handle);
  if (found == all_textures().textures.end()) return cudaErrorInvalidValue;
  if (resource) *resource = found->second.resource;
  if (sampler) *sampler = found->second.sampler;
  if (view) *view = found->second.view.value_or(cudaResourceViewDesc{});
  return cudaSuccess;
}

cudaError_t describe_surface(cudaSurfaceObject_t handle, cudaResourceDesc* resource) {
  const std::lock_guard lock(all_textures().mutex);
  const auto found = all_textures().surfaces.find(handle);
  if (found == all_textures().surfaces.end()) return cudaErrorInvalidValue;
  if (resource) *resource = found->second.resource;
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
