// Texture and surface objects: what the 64-bit handles of a program mean.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "vm/texture/image.h"

namespace ridge::vm::texture {

enum class Address : uint8_t { wrap, clamp, mirror, border };

struct Sampler {
  Address address[3] = {Address::clamp, Address::clamp, Address::clamp};
  bool linear = false;      // filters neighbouring texels
  bool mip_linear = false;  // filters neighbouring levels
  bool normalized_coordinates = false;
  bool seamless_cube = false;
  Reading reading;
  float border[4] = {0, 0, 0, 0};
  float bias = 0, min_level = 0, max_level = 0;
};

struct Object {
  enum class Kind : uint8_t { texture, surface };
  Kind kind = Kind::texture;
  Image image;
  Sampler sampler;
  // The allocation the texels lie in: lookups check that it is still that one.
  uint64_t memory = 0;
  uint64_t allocation_id = 0;
};
using ObjectRef = std::shared_ptr<const Object>;

// All objects of a device. A handle is never given twice, so that one used too late is known.
class Objects {
 public:
  uint64_t add(Object object);
  bool destroy(uint64_t handle, Object::Kind kind);  // false: no such object
  void destroy_all();
  ObjectRef find(uint64_t handle) const;  // null: no such object
  // Why `handle` is not an object of this kind, for people.
  std::string explain(uint64_t handle, Object::Kind kind) const;
  // Rises with every destruction; an object found under an epoch stays found until it moves.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<uint64_t, ObjectRef> objects_;
  uint64_t next_ = 1;
  std::atomic<uint64_t> epoch_{1};
};

}  // namespace ridge::vm::texture
