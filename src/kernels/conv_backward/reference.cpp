#include <cmath>

#include "kernels/conv/shape.h"
#include "kernels/conv_backward/conv_backward.h"
#include "ladder/ladder.h"

namespace ridge::conv_backward {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const bool weights = is_of_weights(c.op);
  const conv::CaseShape s(c, directions_of(c.op), false);
  const auto &dy = t[0].values, &other = t[1].values;
  for (size_t i = 2; i < t.size(); ++i) {
    t[i].values.assign(t[i].values.size(), 0);
    t[i].magnitude.assign(t[i].values.size(), 0);
  }
  const auto add = [](HostTensor& to, int64_t at, double value) {
    to.values[size_t(at)] += value;
    to.magnitude[size_t(at)] += std::fabs(value);
  };
  for (int64_t pixel = 0; pixel < s.pixels(); ++pixel)
    for (int64_t image = 0; image < s.batch; ++image)
      for (int64_t f = 0; f < s.filters; ++f) {
        const double g = dy[size_t(s.y_at(image, f, pixel))];
        if (t.size() == 4) add(t[3], f, g);
        for (int64_t tap = 0; tap < s.taps(); ++tap) {
          const int64_t in = s.input_of(pixel, tap);
          if (in < 0) continue;
          for (int64_t k = 0; k < s.group_channels; ++k) {
            const int64_t channel = f / s.group_filters() * s.group_channels + k;
            const int64_t x = s.x_at(image, channel, in), w = s.w_at(f, k, tap);
            if (weights) add(t[2], w, g * other[size_t(x)]);
            else add(t[2], x, g * other[size_t(w)]);
          }
        }
      }
}

}  // namespace ridge::conv_backward
