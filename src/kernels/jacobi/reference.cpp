#include <cmath>

#include "kernels/jacobi/jacobi.h"
#include "ladder/ladder.h"

namespace ridge::jacobi {
namespace {

std::vector<double> iterated(const Case& c, std::vector<double> x) {
  const bool is_3d = Op(c.op) == Op::jacobi3d;
  const int64_t depth = is_3d ? c.size("depth") : 1, height = c.size("height"),
                width = c.size("width");
  for (int64_t i = 0; i < c.integer("iterations"); ++i) {
    const std::vector<double> from = x;
    for (int64_t z = is_3d ? 1 : 0; z < (is_3d ? depth - 1 : depth); ++z)
      for (int64_t row = 1; row < height - 1; ++row)
        for (int64_t col = 1; col < width - 1; ++col) {
          const auto at = [&](int64_t dz, int64_t dy, int64_t dx) {
            return from[size_t(((z + dz) * height + row + dy) * width + col + dx)];
          };
          double sum = at(0, -1, 0) + at(0, 1, 0) + at(0, 0, -1) + at(0, 0, 1);
          if (is_3d) sum += at(-1, 0, 0) + at(1, 0, 0);
          x[size_t((z * height + row) * width + col)] = sum / (is_3d ? 6 : 4);
        }
  }
  return x;
}

}  // namespace

// Errors are means of errors, relative to what the same means of |x| are.
void reference(const Case& c, std::vector<HostTensor>& t) {
  std::vector<double> sizes = t[0].values;
  for (double& x : sizes) x = std::fabs(x);
  t[1].values = iterated(c, t[0].values);
  t[1].magnitude = iterated(c, sizes);
}

}  // namespace ridge::jacobi
