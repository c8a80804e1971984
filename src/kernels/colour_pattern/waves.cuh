// The plasma's constants for one size of film.
#pragma once

#include "kernels/colour_pattern/colour_pattern.h"

namespace ridge::colour_pattern {

struct Waves {
  float across, down, diagonal;  // turns per pixel
  float rings;                   // turns per squared pixel
  float middle_x, middle_y;
  float time;  // turns a frame
};
inline Waves waves_of(const Args& a) {
  const double w = double(a.width), h = double(a.height);
  return {float(3 / w), float(2 / h), float(4 / (w + h)),         float(12 / (w * w + h * h)),
          float(w / 2), float(h / 2), float(1 / double(a.frames))};
}

}  // namespace ridge::colour_pattern
