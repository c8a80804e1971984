#include "vm/isa/image.h"

#include <algorithm>
#include <string>

namespace ridge::vm {

Geometry geometry_of(const Form& form) {
  if (form.has("2d")) return {2, false, false, 2};
  if (form.has("3d")) return {3, false, false, 4};
  if (form.has("a1d")) return {1, true, false, 2};
  if (form.has("a2d")) return {2, true, false, 4};
  if (form.has("cube")) return {3, false, true, 4};
  if (form.has("acube")) return {3, true, true, 4};
  return {};
}

namespace {

uint32_t channel_order(const texture::Format& format) {
  constexpr uint32_t kOrders[] = {0, 0x10b0, 0x10b2, 0x10b4, 0x10b5};  // R, RG, RGB, RGBA
  return kOrders[format.channels];
}

uint32_t channel_type(const texture::Format& format, const texture::Reading& reading) {
  using texture::Channel;
  const bool normal = reading.normalized && format.bits <= 16;
  const uint32_t by_width = format.bits == 8 ? 0 : format.bits == 16 ? 1 : 2;
  switch (format.kind) {
    case Channel::snorm: return 0x10d0 + by_width;
    case Channel::unorm: return format.bits == 10 ? 0x10d6 : 0x10d2 + by_width;
    case Channel::sint: return (normal ? 0x10d0 : 0x10d7) + by_width;
    case Channel::uint: return (normal ? 0x10d2 : 0x10da) + by_width;
    case Channel::real: return format.bits == 16 ? 0x10dd : 0x10de;
  }
  return 0;
}

}  // namespace

ImageQuery query_of(const Form& form) {
  return ImageQuery(
      form.index_of({"width", "height", "depth", "array_size", "num_mipmap_levels", "num_samples",
                     "normalized_coords", "channel_order", "channel_data_type"}));
}

uint32_t query(const texture::Object& object, ImageQuery what, uint32_t level) {
  const texture::Image& image = object.image;
  const auto last = uint32_t(image.levels.size() - 1);
  const texture::Level& at = image.levels[std::min(level, last)];
  switch (what) {
    case ImageQuery::width: return at.width;
    case ImageQuery::height: return at.height;
    case ImageQuery::depth: return image.dimensions == 3 ? at.depth : 0;
    case ImageQuery::array_size: return image.cube ? image.layers / 6 : image.layers;
    case ImageQuery::levels: return last + 1;
    case ImageQuery::samples: return 1;
    case ImageQuery::normalized: return object.sampler.normalized_coordinates;
    case ImageQuery::channel_order: return channel_order(image.format);
    case ImageQuery::channel_type: return channel_type(image.format, object.sampler.reading);
  }
  return 0;
}

const texture::Object* find_object(Warp& w, const Inst* inst, int lane, uint64_t handle,
                                   texture::Object::Kind kind) {
  Worker& worker = *w.worker;
  const texture::Objects& objects = worker.engine->textures();
  const uint64_t objects_epoch = objects.epoch(), memory_epoch = worker.memory->epoch();
  KnownObject& known = worker.objects[handle % worker.objects.size()];
  if (known.handle == handle && known.object && known.object->kind == kind &&
      known.objects_epoch == objects_epoch && known.memory_epoch == memory_epoch)
    return known.object.get();
  const auto fail = [&](const std::string& why) {
    raise(w, inst, FaultKind::image, uint32_t(lane), 0, 0, why.c_str());
    return nullptr;
  };
  texture::ObjectRef found = objects.find(handle);
  if (!found || found->kind != kind) return fail(objects.explain(handle, kind));
  const auto memory = worker.memory->find(found->memory);
  if (!memory || memory->id != found->allocation_id)
    return fail(std::string("the ") + (found->image.linear ? "memory" : "array") + " behind the " +
                (kind == texture::Object::Kind::texture ? "texture" : "surface") + " object " +
                std::to_string(handle) + " has been freed");
  known = {handle, objects_epoch, memory_epoch, std::move(found)};
  return known.object.get();
}

}  // namespace ridge::vm
