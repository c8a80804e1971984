#include <cmath>

#include "ladder/ladder.h"

namespace ridge::colour_pattern {

void reference(const Case& c, std::vector<HostTensor>& t) {
  constexpr double kTurn = 6.283185307179586;
  const int64_t frames = c.size("frames"), height = c.size("height"), width = c.size("width");
  const double w = double(width), h = double(height);
  size_t at = 0;
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        const double time = double(frame) / double(frames);
        const double dx = double(x) - w / 2, dy = double(y) - h / 2;
        const double v = std::sin(kTurn * (3 * double(x) / w + time)) +
                         std::sin(kTurn * (2 * double(y) / h - time)) +
                         std::sin(kTurn * (4 * double(x + y) / (w + h) + time)) +
                         std::sin(kTurn * (12 * (dx * dx + dy * dy) / (w * w + h * h) - time));
        for (int channel = 0; channel < 3; ++channel)
          t[0].values[at++] =
              std::floor(127.5 + 127.5 * std::cos(kTurn * (v / 4 + time + channel / 3.0)) + 0.5);
      }
  // One level off is right: 2^24 units of f32's roundoff.
  t[0].magnitude.assign(t[0].values.size(), 0x1p24);
}

}  // namespace ridge::colour_pattern
