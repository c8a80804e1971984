#include <algorithm>

#include "kernels/image/image.h"
#include "ladder/ladder.h"

namespace ridge::image {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const Op op = Op(c.op);
  const int64_t height = c.size("height"), width = c.size("width");
  const auto& in = t[0].values;
  auto& out = t[1].values;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const size_t i = size_t(y * width + x);
      if (op == Op::rgb_invert) {
        for (size_t k = 0; k < 3; ++k) out[3 * i + k] = 255 - in[3 * i + k];
      } else if (op == Op::rgb_to_gray) {
        const double sum = 77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2];
        out[i] = double((int64_t(sum) + 128) / 256);
      } else {
        double sum = 0;
        for (int dy = -kRadius; dy <= kRadius; ++dy)
          for (int dx = -kRadius; dx <= kRadius; ++dx) {
            const int64_t sy = std::clamp<int64_t>(y + dy, 0, height - 1);
            const int64_t sx = std::clamp<int64_t>(x + dx, 0, width - 1);
            sum += weight_of(op, dy + kRadius) * weight_of(op, dx + kRadius) *
                   in[size_t(sy * width + sx)];
          }
        out[i] = double(finished(op, unsigned(sum)));
      }
    }
}

}  // namespace ridge::image
