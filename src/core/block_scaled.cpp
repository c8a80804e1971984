#include "core/block_scaled.h"

#include <algorithm>
#include <array>
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

double power_scale(double amax, Dtype element) {
  if (std::isnan(amax)) return NAN;
  if (amax == 0) return 0;  // becomes the smallest scale
  return std::ldexp(1, std::ilogb(amax) - std::ilogb(largest(element)));
}

// f64 sums of 256, in halves: the order in which a block of threads adds them.
double tree_sum(std::array<double, 256>& a) {
  for (size_t half = 128; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) a[i] += a[i + half];
  return a[0];
}

// The mean of all scales that are numbers. Groups of 256 are summed in halves, and their sums, dealt
// to 256 places, again.
float mean_of(const std::vector<float>& scales) {
  std::array<double, 256> places = {}, counts = {};
  for (size_t first = 0; first < scales.size(); first += 256) {
    std::array<double, 256> group = {};
    for (size_t i = first; i < std::min(scales.size(), first + 256); ++i) {
      if (std::isnan(scales[i])) continue;
      group[i - first] = double(scales[i]);
      ++counts[first / 256 % 256];
    }
    places[first / 256 % 256] += tree_sum(group);
  }
  const double count = tree_sum(counts);
  return count > 0 ? float(tree_sum(places) / count) : 0;
}

// Quantises the scales themselves. For ue4m3 they come as the largest magnitude of each block.
void store_scales(const std::vector<float>& scales, const Tensor& t, TensorScale tensor_scale) {
  const Scales& to = t.scales;
  const auto count = int64_t(scales.size());
  if (!to.second) {
    for (int64_t i = 0; i < count; ++i) store(to.dtype, to.data, i, double(scales[size_t(i)]));
    return;
  }
  const auto most_of = [&](int64_t first, int64_t end, float offset) {
    float most = 0;
    for (int64_t i = first; i < end; ++i)
      if (!std::isnan(scales[size_t(i)]))
        most = std::max(most, std::fabs(scales[size_t(i)] - offset));
    return most;
  };
  const auto store_one = [&](int64_t i, float rest, float second) {
    store(to.dtype, to.data, i, second == 0 && !std::isnan(rest) ? 0 : double(rest / second));
  };
  const auto most_scale = float(largest(to.dtype));
  if (to.offset) {
    const float offset = *to.offset = mean_of(scales);
    for (int64_t first = 0; first < count; first += to.second_block) {
      const int64_t end = std::min(count, first + to.second_block);
      const float second = to.second[first / to.second_block] =
          most_of(first, end, offset) / most_scale;
      for (int64_t i = first; i < end; ++i) store_one(i, scales[size_t(i)] - offset, second);
    }
    return;
  }
  const auto most_element = float(largest(t.dtype));
  if (tensor_scale == TensorScale::computed)
    *to.second = most_of(0, count, 0) / (most_element * most_scale);
  for (int64_t i = 0; i < count; ++i)
    store_one(i, scales[size_t(i)] / most_element, *to.second);
}

}  // namespace

double scale_of(const Tensor& t, int64_t block) {
  const Scales& s = t.scales;
  auto scale = float(load(s.dtype, s.data, block));
  if (s.second) scale *= s.second[s.second_block == 0 ? 0 : block / s.second_block];
  return double(s.offset ? scale + *s.offset : scale);
}

double dequantised(const Tensor& t, int64_t element) {
  const auto scale = float(scale_of(t, block_of(scale_grid(t), element)));
  return double(float(load(t.dtype, t.data, element)) * scale);
}

void quantise(const double* values, const Tensor& out, TensorScale tensor_scale) {
  const Dtype format = out.scales.dtype;
  const std::vector<double> maxima = block_maxima(values, out);
  const bool is_given = tensor_scale == TensorScale::given && !out.scales.second;
  std::vector<float> scales;
  for (const double amax : maxima)
    scales.push_back(format == Dtype::ue8m0   ? float(power_scale(amax, out.dtype))
                     : format == Dtype::ue4m3 ? float(amax)
                                              : float(amax) / float(largest(out.dtype)));
  if (!is_given) store_scales(scales, out, tensor_scale);

  const ScaleGrid grid = scale_grid(out);
  for (int64_t i = 0; i < out.elements(); ++i) {
    const int64_t block = block_of(grid, i);
    const float scale = out.scales.offset ? scales[size_t(block)] : float(scale_of(out, block));
    const bool readable = std::isfinite(scale) && scale != 0;
    store(out.dtype, out.data, i, readable ? double(float(values[i]) / scale) : 0);
  }
}

}  // namespace ridge
