#include "vm/texture/surface.h"

#include <algorithm>

namespace ridge::vm::texture {

uint8_t* locate(const Image& image, const SurfaceAccess& access, Outside outside) {
  const Level& level = image.levels.front();
  const int64_t row = int64_t(level.width) * image.format.bytes();
  const int64_t most[3] = {row - access.bytes, int64_t(level.height) - 1,
                           image.layers ? int64_t(image.layers) - 1 : int64_t(level.depth) - 1};
  int64_t at[3] = {access.byte, access.y, image.layers ? int64_t(access.layer) : access.z};
  for (int a = 0; a < 3; ++a) {
    if (at[a] >= 0 && at[a] <= most[a]) continue;
    if (outside != Outside::clamp || most[a] < 0) return nullptr;
    at[a] = std::clamp<int64_t>(at[a], 0, most[a]);
  }
  return level.at(uint64_t(at[0]), uint64_t(at[1]), uint64_t(at[2]));
}

}  // namespace ridge::vm::texture
