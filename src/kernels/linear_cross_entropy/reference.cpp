#include <algorithm>
#include <cmath>

#include "core/number.h"
#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "ladder/ladder.h"

namespace ridge::linear_cross_entropy {
namespace {

constexpr double kRoundoff = 0x1p-24;  // of f32

HostTensor* find(std::vector<HostTensor>& all, const char* name) {
  for (HostTensor& t : all)
    if (t.spec.name == name) return &t;
  return nullptr;
}

}  // namespace

// Errors are counted here, one by one, and handed on as magnitudes: cases.cpp sets a tolerance of
// one roundoff of f32, so magnitudes are errors over that.
//
// A logit is a sum of `dim` products, and may be rounded to the format of hidden. An error of any
// logit is one of lse, and so are the relative errors of the exponentials, and of their sum. The
// gradient of a logit may be rounded, too, and is summed with weights.
void reference(const Case& c, std::vector<HostTensor>& all) {
  const auto rows = size_t(c.size("rows")), cols = size_t(c.size("cols")),
             dim = size_t(c.size("dim"));
  const auto &hidden = find(all, "hidden")->values, &weight = find(all, "weight")->values,
             &targets = find(all, "targets")->values;
  HostTensor &loss = *find(all, "loss"), *const losses = find(all, "losses"),
             *const dhidden = find(all, "dhidden"), *const dweight = find(all, "dweight");
  for (HostTensor& t : all)
    if (t.spec.role == Role::out) {
      t.values.assign(t.values.size(), 0);
      t.magnitude.assign(t.values.size(), 0);
    }
  const bool is_exact = c.seed % 2 == 0;  // every format holds the logits
  const double smoothing = c.number("label_smoothing"), ignored = c.number("ignore_index");
  // Below the normal numbers of f32, an exponential may be 0.
  const double rounding = unit_roundoff(c.dtype),
               least = c.dtype == Dtype::f16 ? 0x1p-25 : 0x1p-126;
  double count = 1;
  if (cross_entropy::Reduction(c.integer("reduction")) == cross_entropy::Reduction::mean)
    count = double(targets.size()) - double(std::count(targets.begin(), targets.end(), ignored));
  const double scale = c.number("scale") / count, of_rows = double(rows) * kRoundoff;
  std::vector<double> x(cols), error(cols);
  for (size_t r = 0; r < rows; ++r) {
    if (targets[r] == ignored) continue;
    const bool is_inside = targets[r] >= 0 && targets[r] < double(cols);
    double max = -INFINITY, worst = 0, sum = 0, mean = 0, size = 0;
    for (size_t i = 0; i < cols; ++i) {
      double products = 0;
      x[i] = 0;
      for (size_t d = 0; d < dim; ++d) {
        x[i] += hidden[r * dim + d] * weight[i * dim + d];
        products += std::fabs(hidden[r * dim + d] * weight[i * dim + d]);
      }
      max = std::fmax(max, x[i]);
      if (!is_exact)
        worst = std::fmax(worst, rounding * std::fabs(x[i]) + double(dim) * kRoundoff * products);
    }
    const double target_logit = is_inside ? x[size_t(targets[r])] : x[0];
    for (size_t i = 0; i < cols; ++i) {
      sum += std::exp(x[i] - max);
      mean += (x[i] - target_logit) / double(cols);
      size = std::max(size, std::fabs(x[i] - max));
    }
    const double of_sum = (6 * size + 16 + (is_exact ? 8 : double(cols))) * kRoundoff;
    const double lse = max + std::log(sum);
    const double value = is_inside ? (lse - target_logit) - smoothing * mean : NAN;
    const double of_loss =
        2 * worst + of_sum + 4 * kRoundoff * (1 + size + std::log(double(cols)) + smoothing * size);
    if (losses) {
      losses->values[r] = value;
      losses->magnitude[r] = of_loss / kRoundoff;
    }
    loss.values[0] += value / count;
    loss.magnitude[0] += (of_loss + of_rows * std::fabs(value)) / count / kRoundoff;
    if (!dhidden && !dweight) continue;
    for (size_t i = 0; i < cols; ++i) {
      const double p = std::exp(x[i] - lse), here = double(i) == targets[r] ? 1 - smoothing : 0;
      const double g = is_inside ? scale * (p - here - smoothing / double(cols)) : NAN;
      error[i] = std::fabs(scale) * (p * (2 * worst + 2 * of_sum) +
                                     6 * kRoundoff * (p + here + smoothing / double(cols))) +
                 rounding * std::fabs(g) + least;
      x[i] = g;
    }
    const auto add = [&](HostTensor& to, size_t at, double g, double error_of_g, double factor,
                         size_t terms) {
      to.values[at] += g * factor;
      to.magnitude[at] +=
          (error_of_g / kRoundoff + double(terms) * std::fabs(g)) * std::fabs(factor);
    };
    for (size_t i = 0; i < cols; ++i)
      for (size_t d = 0; d < dim; ++d) {
        if (dhidden) add(*dhidden, r * dim + d, x[i], error[i], weight[i * dim + d], cols);
        if (dweight) add(*dweight, i * dim + d, x[i], error[i], hidden[r * dim + d], rows);
      }
  }
  if (count == 0) loss.values[0] = NAN;
  for (size_t i = 0; dhidden && i < dhidden->values.size(); ++i)
    dhidden->magnitude[i] += (rounding * std::fabs(dhidden->values[i]) + least) / kRoundoff;
}

}  // namespace ridge::linear_cross_entropy
