// colour_pattern: an animated plasma. Four waves are added, and their sum turns the colour wheel.
//
// Phases are in turns. With T = t / frames, which makes the film a loop:
//   across   3 x / width + T                    v = (sin across + sin down + sin diagonal
//   down     2 y / height - T                        + sin rings) / 4
//   diagonal 4 (x + y) / (width + height) + T   red, green, blue =
//   rings    12 r^2 / (width^2 + height^2) - T      127.5 + 127.5 cos(v + T + 0, 1/3, 2/3)
// r being the distance of the pixel (x, y) from the middle (width / 2, height / 2). Levels are
// rounded to the nearest; f32 may round to the one beside it.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::colour_pattern {

struct Args {
  void* out = nullptr;  // (frames, height, width, 3)
  int64_t frames = 0, height = 0, width = 0;
  int64_t stride = 0;  // bytes from row to row
  Dtype dtype = Dtype::u8;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  return 3.0 * double(a.frames) * double(a.height) * double(a.width);
}

}  // namespace ridge::colour_pattern
