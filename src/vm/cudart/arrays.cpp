#include "vm/cudart/arrays.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "core/align.h"
#include "vm/cudart/channels.h"
#include "vm/cudart/device.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/refuse.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

using texture::Image;
using texture::Level;

constexpr uint64_t kAlign = 512, kRowAlign = 32;

struct AllArrays {
  std::mutex mutex;
  std::unordered_map<const void*, ArrayRef> arrays;  // levels of mipmapped ones, too
  std::unordered_map<const void*, MipmappedRef> mipmapped;
};
AllArrays& all_arrays() {
  static AllArrays& instance = *new AllArrays;
  return instance;
}

// The device's limits for a kind of array: of textures, and of surfaces where they are narrower.
struct Limits {
  cudaDeviceAttr texture[3], surface[3];  // 0: no such dimension
};
const cudaDeviceAttr kNoLimit = cudaDeviceAttr(0);
Limits limits_of(const Image& image, bool gather, bool mipmapped) {
  if (image.cube && image.layers > 6)
    return {{cudaDevAttrMaxTextureCubemapLayeredWidth, cudaDevAttrMaxTextureCubemapLayeredWidth,
             cudaDevAttrMaxTextureCubemapLayeredLayers},
            {cudaDevAttrMaxSurfaceCubemapLayeredWidth, cudaDevAttrMaxSurfaceCubemapLayeredWidth,
             cudaDevAttrMaxSurfaceCubemapLayeredLayers}};
  if (image.cube)
    return {{cudaDevAttrMaxTextureCubemapWidth, cudaDevAttrMaxTextureCubemapWidth, kNoLimit},
            {cudaDevAttrMaxSurfaceCubemapWidth, cudaDevAttrMaxSurfaceCubemapWidth, kNoLimit}};
  if (image.layers && image.dimensions == 1)
    return {{cudaDevAttrMaxTexture1DLayeredWidth, kNoLimit, cudaDevAttrMaxTexture1DLayeredLayers},
            {cudaDevAttrMaxSurface1DLayeredWidth, kNoLimit, cudaDevAttrMaxSurface1DLayeredLayers}};
  if (image.layers)
    return {{cudaDevAttrMaxTexture2DLayeredWidth, cudaDevAttrMaxTexture2DLayeredHeight,
             cudaDevAttrMaxTexture2DLayeredLayers},
            {cudaDevAttrMaxSurface2DLayeredWidth, cudaDevAttrMaxSurface2DLayeredHeight,
             cudaDevAttrMaxSurface2DLayeredLayers}};
  if (image.dimensions == 3)
    return {
        {cudaDevAttrMaxTexture3DWidth, cudaDevAttrMaxTexture3DHeight, cudaDevAttrMaxTexture3DDepth},
        {cudaDevAttrMaxSurface3DWidth, cudaDevAttrMaxSurface3DHeight,
         cudaDevAttrMaxSurface3DDepth}};
  const cudaDeviceAttr surface_2d[] = {cudaDevAttrMaxSurface2DWidth, cudaDevAttrMaxSurface2DHeight};
  if (image.dimensions == 2 && gather)
    return {{cudaDevAttrMaxTexture2DGatherWidth, cudaDevAttrMaxTexture2DGatherHeight, kNoLimit},
            {surface_2d[0], surface_2d[1], kNoLimit}};
  if (image.dimensions == 2 && mipmapped)
    return {
        {cudaDevAttrMaxTexture2DMipmappedWidth, cudaDevAttrMaxTexture2DMipmappedHeight, kNoLimit},
        {surface_2d[0], surface_2d[1], kNoLimit}};
  if (image.dimensions == 2)
    return {{cudaDevAttrMaxTexture2DWidth, cudaDevAttrMaxTexture2DHeight, kNoLimit},
            {surface_2d[0], surface_2d[1], kNoLimit}};
  return {{mipmapped ? cudaDevAttrMaxTexture1DMipmappedWidth : cudaDevAttrMaxTexture1DWidth,
           kNoLimit, kNoLimit},
          {cudaDevAttrMaxSurface1DWidth, kNoLimit, kNoLimit}};
}

bool within_limits(const Image& image, const cudaExtent& extent, unsigned flags, bool mipmapped) {
  const Limits limits = limits_of(image, flags & cudaArrayTextureGather, mipmapped);
  const size_t sizes[3] = {extent.width, extent.height, extent.depth};
  const auto inside = [&](const cudaDeviceAttr attributes[3]) {
    for (int a = 0; a < 3; ++a)
      if (attributes[a] != kNoLimit &&
          sizes[a] > size_t(*device_attribute(runtime().gpu(), attributes[a])))
        return false;
    return true;
  };
  return inside(limits.texture) && (!(flags & cudaArraySurfaceLoadStore) || inside(limits.surface));
}

// What kind of array an extent and flags ask for: everything but its levels.
cudaError_t shape_of(const cudaChannelFormatDesc* desc, const cudaExtent& extent, unsigned flags,
                     bool mipmapped, Image* image) {
  constexpr unsigned kKnown =
      cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
  if (!desc || extent.width == 0) return cudaErrorInvalidValue;
  if (flags & (cudaArraySparse | cudaArrayDeferredMapping))
    return cudaError_t(refuse("an array without memory of its own", "sparse arrays"));
  if (flags & ~kKnown) return cudaErrorInvalidValue;
  if (const cudaError_t error = format_of(*desc, &image->format)) return error;
  const bool layered = flags & cudaArrayLayered;
  image->cube = flags & cudaArrayCubemap;
  image->dimensions = extent.height == 0 ? 1 : layered || image->cube || extent.depth == 0 ? 2 : 3;
  if (image->cube) {
    const bool faces = layered ? extent.depth && extent.depth % 6 == 0 : extent.depth == 6;
    if (extent.width != extent.height || !faces) return cudaErrorInvalidValue;
  }
  if (layered && extent.depth == 0) return cudaErrorInvalidValue;
  if (!layered && !image->cube && extent.height == 0 && extent.depth) return cudaErrorInvalidValue;
  if ((flags & cudaArrayTextureGather) && (image->dimensions != 2 || layered || image->cube))
    return cudaErrorInvalidValue;
  if (layered || image->cube) image->layers = uint32_t(extent.depth);
  return within_limits(*image, extent, flags, mipmapped) ? cudaSuccess : cudaErrorInvalidValue;
}

// One level's place, `at` bytes into memory that is not there yet. Returns the end.
uint64_t lay_out(const Image& shape, const cudaExtent& extent, unsigned shrink, uint64_t at,
                 Level* level) {
  const auto size = [&](size_t whole) { return uint32_t(std::max<size_t>(1, whole >> shrink)); };
  level->width = size(extent.width);
  level->height = size(extent.height);
  level->depth = shape.layers ? 1 : size(extent.depth);
  level->pitch = round_up(uint64_t(level->width) * shape.format.bytes(), kRowAlign);
  level->slice = level->pitch * level->height;
  const uint64_t start = round_up(at, kAlign);
  level->base = reinterpret_cast<uint8_t*>(start);
  return start + level->slice * (shape.layers ? shape.layers : level->depth);
}

// Memory for arrays that have been laid out from 0 on.
cudaError_t place(const std::vector<ArrayRef>& arrays, uint64_t bytes) {
  Allocations& memory = runtime().engine.memory();
  const auto start = memory.allocate(bytes, kAlign, MemKind::array);
  if (!start) return cudaErrorMemoryAllocation;
  const uint64_t id = memory.find(*start)->id;
  for (const ArrayRef& array : arrays) {
    uint8_t*& base = array->image.levels.front().base;
    base = reinterpret_cast<uint8_t*>(reinterpret_cast<uint64_t>(base) + *start);
    array->allocation_id = id;
  }
  return cudaSuccess;
}

void release(const Array& first) {
  runtime().engine.memory().release(reinterpret_cast<uint64_t>(first.level().base), MemKind::array);
}

}  // namespace

cudaError_t make_array(cudaArray_t* handle, const cudaChannelFormatDesc* desc, cudaExtent extent,
                       unsigned flags) {
  if (!handle) return cudaErrorInvalidValue;
  auto array = std::make_shared<Array>();
  if (const cudaError_t error = shape_of(desc, extent, flags, false, &array->image)) return error;
  array->desc = *desc;
  array->extent = extent;
  array->flags = flags;
  Level level;
  const uint64_t bytes = lay_out(array->image, extent, 0, 0, &level);
  array->image.levels = {level};
  if (const cudaError_t error = place({array}, bytes)) return error;
  *handle = reinterpret_cast<cudaArray_t>(array.get());
  const std::lock_guard lock(all_arrays().mutex);
  all_arrays().arrays.emplace(array.get(), array);
  return cudaSuccess;
}

cudaError_t make_mipmapped(cudaMipmappedArray_t* handle, const cudaChannelFormatDesc* desc,
                           cudaExtent extent, unsigned levels, unsigned flags) {
  if (!handle) return cudaErrorInvalidValue;
  Image shape;
  if (const cudaError_t error = shape_of(desc, extent, flags, true, &shape)) return error;
  // 1 + floor(log2(largest dimension)) levels at most, and as many when more are asked for.
  const size_t largest =
      std::max({extent.width, extent.height, shape.layers ? size_t(0) : extent.depth});
  unsigned most = 1;
  while (largest >> most) ++most;
  auto made = std::make_shared<MipmappedArray>();
  made->desc = *desc;
  made->extent = extent;
  made->flags = flags;
  uint64_t end = 0;
  for (unsigned k = 0; k < std::clamp(levels, 1u, most); ++k) {
    auto array = std::make_shared<Array>();
    array->desc = *desc;
    array->flags = flags;
    array->is_level = true;
    array->image = shape;
    Level level;
    end = lay_out(shape, extent, k, end, &level);
    array->image.levels = {level};
    array->extent = {level.width, extent.height ? level.height : 0,
                     shape.layers   ? extent.depth
                     : extent.depth ? size_t(level.depth)
                                    : 0};
    made->levels.push_back(std::move(array));
  }
  if (const cudaError_t error = place(made->levels, end)) return error;
  *handle = reinterpret_cast<cudaMipmappedArray_t>(made.get());
  const std::lock_guard lock(all_arrays().mutex);
  for (const ArrayRef& level : made->levels) all_arrays().arrays.emplace(level.get(), level);
  all_arrays().mipmapped.emplace(made.get(), made);
  return cudaSuccess;
}

ArrayRef find_array(cudaArray_const_t handle) {
  const std::lock_guard lock(all_arrays().mutex);
  const auto found = all_arrays().arrays.find(handle);
  return found == all_arrays().arrays.end() ? nullptr : found->second;
}

MipmappedRef find_mipmapped(cudaMipmappedArray_const_t handle) {
  const std::lock_guard lock(all_arrays().mutex);
  const auto found = all_arrays().mipmapped.find(handle);
  return found == all_arrays().mipmapped.end() ? nullptr : found->second;
}

cudaError_t free_array(cudaArray_t handle) {
  if (!handle) return cudaSuccess;
  const ArrayRef array = find_array(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  if (array->is_level) return cudaSuccess;  // the whole owns it
  runtime().scheduler.wait_all();
  if (const cudaError_t error = synchronised()) return error;
  const std::lock_guard lock(all_arrays().mutex);
  if (!all_arrays().arrays.erase(handle)) return cudaErrorInvalidResourceHandle;
  release(*array);
  return cudaSuccess;
}

cudaError_t free_mipmapped(cudaMipmappedArray_t handle) {
  if (!handle) return cudaSuccess;
  const MipmappedRef array = find_mipmapped(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  runtime().scheduler.wait_all();
  if (const cudaError_t error = synchronised()) return error;
  const std::lock_guard lock(all_arrays().mutex);
  if (!all_arrays().mipmapped.erase(handle)) return cudaErrorInvalidResourceHandle;
  for (const ArrayRef& level : array->levels) all_arrays().arrays.erase(level.get());
  release(*array->levels.front());
  return cudaSuccess;
}

void forget_arrays() {
  const std::lock_guard lock(all_arrays().mutex);
  all_arrays().arrays.clear();
  all_arrays().mipmapped.clear();
}

bool box_in(const Array& array, size_t x, size_t y, size_t z, const BoxExtent& extent, Box* box) {
  const auto inside = [](size_t start, size_t size, size_t end) {
    return start <= end && size <= end - start;
  };
  if (!inside(x, extent.width, array.row_bytes()) ||
      !inside(y, extent.height, array.level().height) || !inside(z, extent.depth, array.slices()))
    return false;
  *box = {array.level().at(x, y, z), array.level().pitch, array.level().slice};
  return true;
}

ArrayRef array_holding(const void* address, cudaPos* at) {
  const auto allocation = find_allocation(address);
  if (!allocation || allocation->kind != MemKind::array) return nullptr;
  const std::lock_guard lock(all_arrays().mutex);
  for (const auto& [handle, array] : all_arrays().arrays) {
    const Level& level = array->level();
    const uint64_t offset =
        reinterpret_cast<uint64_t>(address) - reinterpret_cast<uint64_t>(level.base);
    if (offset >= level.slice * array->slices()) continue;
    *at = {offset % level.pitch / array->texel_bytes(), offset % level.slice / level.pitch,
           offset / level.slice};
    return array;
  }
  return nullptr;
}

}  // namespace ridge::vm::cudart
