#include "core/block_scaled.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/number.h"

namespace ridge {
namespace {

int64_t block_of(const ScaleGrid& grid, int64_t element) {
  const int64_t row = element / grid.cols;
  return grid.index(row / grid.rows, row % grid.rows, element % grid.cols);
}

// The largest magnitude of each block; NaN where an element is not finite.
std::vector<double> block_maxima(const double* values, const Tensor& t) {
  const ScaleGrid grid = scale_grid(t);
  std::vector<double> maxima(size_t(grid.count()), 0);
  for (int64_t i = 0; i < t.elements(); ++i) {
    double& amax = maxima[size_t(block_of(grid, i))];
    const double size = std::isfinite(values[i]) ? std::fabs(values[i]) : NAN;
    if (std::isnan(size) || size > amax) amax = size;  // a NaN that is there stays
  }
  return maxima;
}

// Rounded to f32 as it is stored.
double stored(float* place, double value) {
  *place = float(value);
  return double(*place);
}

double power_scale(double amax, Dtype element) {
  if (std::isnan(amax)) return NAN;
  if (amax == 0) return 0;  // becomes the smallest scale
  return std::ldexp(1, std::ilogb(amax) - std::ilogb(largest(element)));
}

// Quantises the scales themselves; they come unrounded.
void store_scales(std::vector<double> scales, const Scales& to) {
  const auto count = int64_t(scales.size());
  double offset = 0;
  if (to.offset) {
    double sum = 0, finite = 0;
    for (const double s : scales)
      if (!std::isnan(s)) sum += s, ++finite;
    offset = stored(to.offset, finite > 0 ? sum / finite : 0);
  }
  const int64_t group = !to.second || to.second_block == 0 ? count : to.second_block;
  for (int64_t first = 0; first < count; first += group) {
    const int64_t end = std::min(count, first + group);
    double second = 1;
    if (to.second) {
      double most = 0;
      for (int64_t i = first; i < end; ++i)
        if (!std::isnan(scales[size_t(i)]))
          most = std::max(most, std::fabs(scales[size_t(i)] - offset));
      second = stored(to.second + first / group, most / largest(to.dtype));
    }
    for (int64_t i = first; i < end; ++i) {
      const double rest = scales[size_t(i)] - offset;
      store(to.dtype, to.data, i, second == 0 && !std::isnan(rest) ? 0 : rest / second);
    }
  }
}

}  // namespace

double scale_of(const Tensor& t, int64_t block) {
  const Scales& s = t.scales;
  double scale = load(s.dtype, s.data, block);
  if (s.second) scale *= double(s.second[s.second_block == 0 ? 0 : block / s.second_block]);
  return s.offset ? scale + double(*s.offset) : scale;
}

double dequantised(const Tensor& t, int64_t element) {
  return load(t.dtype, t.data, element) * scale_of(t, block_of(scale_grid(t), element));
}

void quantise(const double* values, const Tensor& out) {
  const bool is_power = out.scales.dtype == Dtype::ue8m0;
  std::vector<double> scales = block_maxima(values, out);
  for (double& s : scales) s = is_power ? power_scale(s, out.dtype) : s / largest(out.dtype);
  store_scales(std::move(scales), out.scales);

  const ScaleGrid grid = scale_grid(out);
  for (int64_t i = 0; i < out.elements(); ++i) {
    const double scale = scale_of(out, block_of(grid, i));
    const bool readable = std::isfinite(scale) && scale != 0;
    store(out.dtype, out.data, i, readable ? values[i] / scale : 0);
  }
}

}  // namespace ridge
