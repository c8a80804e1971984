// Where a surface instruction touches its surface.
#pragma once

#include "vm/texture/object.h"

namespace ridge::vm::texture {

enum class Outside : uint8_t { trap, clamp, zero };  // what happens there

struct SurfaceAccess {
  int64_t byte = 0;  // along x
  int64_t y = 0, z = 0;
  uint32_t layer = 0;
  uint32_t bytes = 0;  // moved
};
// Null outside the surface, or, with Outside::clamp, the nearest place that is inside.
uint8_t* locate(const Image& image, const SurfaceAccess& access, Outside outside);

}  // namespace ridge::vm::texture
