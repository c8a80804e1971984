// Textures for tests: texels in a vector, and an object that looks at them.
#pragma once

#include <bit>
#include <cstring>
#include <vector>

#include "vm/texture/sample.h"

namespace ridge::vm::texture {

struct Picture {
  std::vector<uint8_t> memory;
  Object object;

  // `layers` 0: a plain texture of `dimensions`; more: that many layers or faces.
  Picture(Format format, int dimensions, uint32_t width, uint32_t height = 1, uint32_t depth = 1,
          uint32_t layers = 0, bool cube = false) {
    object.image.format = format;
    object.image.dimensions = dimensions;
    object.image.layers = layers;
    object.image.cube = cube;
    Level level;
    level.width = width;
    level.height = height;
    level.depth = depth;
    level.pitch = width * format.bytes() + 12;  // rows need not touch
    level.slice = level.pitch * height;
    memory.resize(level.slice * std::max(depth, layers));
    level.base = memory.data();
    object.image.levels = {level};
  }
  Picture(const Picture&) = delete;

  template <class T>
  void put(T value, uint32_t x, uint32_t y = 0, uint32_t z = 0, uint32_t channel = 0) {
    const Format& format = object.image.format;
    const uint64_t at = x * format.bytes() + channel * sizeof(T);
    std::memcpy(object.image.levels[0].at(at, y, z), &value, sizeof value);
  }
};

inline float real(uint32_t bits) { return std::bit_cast<float>(bits); }

inline Lookup lookup(std::vector<double> at) {
  Lookup l;
  l.dimensions = int(at.size());
  std::copy(at.begin(), at.end(), l.at);
  return l;
}

}  // namespace ridge::vm::texture
