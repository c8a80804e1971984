// Texels in memory, as CUDA arrays, mipmapped arrays and linear memory hold them.
//
// Every level is rows of texels behind one another, `pitch` bytes apart; slices of a volume, layers
// and faces are `slice` bytes apart. Hardware tiles them, which no program can see.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/texture/format.h"

namespace ridge::vm::texture {

struct Level {
  uint8_t* base = nullptr;
  uint32_t width = 1, height = 1, depth = 1;
  uint64_t pitch = 0, slice = 0;

  uint8_t* at(uint64_t byte, uint64_t y, uint64_t z) const {
    return base + z * slice + y * pitch + byte;
  }
};

struct Image {
  Format format;
  int dimensions = 1;   // of one layer or face
  bool cube = false;    // six faces to a layer
  uint32_t layers = 0;  // faces included; 0: not layered
  bool linear = false;  // memory, not an array
  std::vector<Level> levels;
};

}  // namespace ridge::vm::texture
