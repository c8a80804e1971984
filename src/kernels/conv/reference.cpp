#include <cmath>

#include "kernels/conv/shape.h"
#include "ladder/ladder.h"

namespace ridge::conv {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const CaseShape s = shape_of(c);
  const bool has_bias = t.size() == 4;
  const auto &x = t[0].values, &w = t[1].values;
  HostTensor& y = t.back();
  y.magnitude.assign(y.values.size(), 0);
  for (int64_t pixel = 0; pixel < s.pixels(); ++pixel) {
    std::vector<int64_t> inputs;
    for (int64_t tap = 0; tap < s.taps(); ++tap) inputs.push_back(s.input_of(pixel, tap));
    for (int64_t image = 0; image < s.batch; ++image)
      for (int64_t f = 0; f < s.filters; ++f) {
        double sum = has_bias ? t[2].values[size_t(f)] : 0, magnitude = std::fabs(sum);
        for (int64_t k = 0; k < s.group_channels; ++k)
          for (int64_t tap = 0; tap < s.taps(); ++tap) {
            const int64_t channel = f / s.group_filters() * s.group_channels + k;
            const int64_t in = inputs[size_t(tap)];
            const double product =
                (in < 0 ? 0 : x[size_t(s.x_at(image, channel, in))]) * w[size_t(s.w_at(f, k, tap))];
            sum += product;
            magnitude += std::fabs(product);
          }
        const auto at = size_t(s.y_at(image, f, pixel));
        y.values[at] = sum;
        y.magnitude[at] = magnitude;
      }
  }
}

}  // namespace ridge::conv
