#include <cmath>

#include "kernels/cross_entropy/cross_entropy.h"
#include "ladder/ladder.h"

namespace ridge::cross_entropy {
namespace {

struct Tensors {
  std::vector<HostTensor>& all;
  HostTensor* find(const char* name) const {
    for (HostTensor& t : all)
      if (t.spec.name == name) return &t;
    return nullptr;
  }
  void put(const char* name, size_t at, double value, double magnitude) const {
    HostTensor* const t = find(name);
    if (!t) return;
    t->values[at] = value;
    t->magnitude[at] = magnitude;
  }
};

// What errors are relative to: the differences and the logarithm that a loss is made of; and 1,
// because an error of the sum, relative, is one of its logarithm, absolute.
void one_row(const Case& c, const Tensors& t, size_t r, size_t cols, double count) {
  const auto& x = t.find("logits")->values;
  const double smoothing = c.number("label_smoothing"), target = t.find("targets")->values[r];
  HostTensor* const dlogits = t.find("dlogits");
  if (target == double(c.integer("ignore_index"))) {
    t.put("losses", r, 0, 0);
    if (Op(c.op) != Op::backward) t.put("lse", r, 0, 0);
    for (size_t i = 0; dlogits && i < cols; ++i) dlogits->values[r * cols + i] = 0;
    return;
  }
  const bool is_inside = target >= 0 && target < double(cols);
  const double* const row = &x[r * cols];
  const double target_logit = is_inside ? row[size_t(target)] : row[0];
  bool has_nan = false;  // which fmax leaves out
  double max = -INFINITY, sum = 0, mean_distance = 0, mean_size = 0, lse = 0;
  if (Op(c.op) == Op::backward) {
    lse = t.find("lse")->values[r];
  } else {
    const double pivot = std::isfinite(target_logit) ? target_logit : 0;
    for (size_t i = 0; i < cols; ++i) {
      max = std::fmax(max, row[i]);
      has_nan |= std::isnan(row[i]);
      mean_distance += (row[i] - pivot) / double(cols);
      mean_size += std::fabs(row[i] - pivot) / double(cols);
    }
    for (size_t i = 0; i < cols; ++i) sum += std::exp(row[i] - max);
    const double logarithm = std::log(sum), distance = max - target_logit;
    lse = max == -INFINITY && !has_nan ? max : max + logarithm;
    double loss = distance + logarithm, magnitude = 1 + std::fabs(distance) + std::fabs(logarithm);
    if (smoothing > 0) {
      loss = (1 - smoothing) * loss + smoothing * ((max - pivot) - mean_distance + logarithm);
      magnitude += smoothing * (std::fabs(max - pivot) + mean_size);
    }
    t.put("losses", r, is_inside ? loss : NAN, magnitude);
    t.put("lse", r, lse, 1 + std::fabs(max) + std::fabs(logarithm));
    if (HostTensor* const all = t.find("loss")) {
      all->values[0] += (is_inside ? loss : NAN) / count;
      all->magnitude[0] += magnitude / count;
    }
  }
  if (!dlogits) return;
  double scale = Op(c.op) == Op::with_gradient ? c.number("scale") : 1;
  if (const HostTensor* const dloss = t.find("dloss")) scale *= dloss->values[0];
  if (const HostTensor* const dlosses = t.find("dlosses")) scale *= dlosses->values[r];
  scale = is_inside ? scale / count : NAN;
  const double everywhere = smoothing / double(cols);
  for (size_t i = 0; i < cols; ++i) {
    const double p = std::exp(row[i] - lse), here = double(i) == target ? 1 - smoothing : 0;
    dlogits->values[r * cols + i] = scale * (p - here - everywhere);
    dlogits->magnitude[r * cols + i] = std::fabs(scale) * (p + here + everywhere);
  }
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const auto rows = size_t(c.size("rows")), cols = size_t(c.size("cols"));
  for (HostTensor& out : all)
    if (out.spec.role != Role::in) {
      out.values.assign(out.values.size(), 0);
      out.magnitude.assign(out.values.size(), 0);
    }
  double count = 1;
  if (Reduction(c.integer("reduction")) == Reduction::mean) {
    count = 0;
    for (const double target : t.find("targets")->values)
      count += target != double(c.integer("ignore_index"));
  }
  for (size_t r = 0; r < rows && cols > 0; ++r) one_row(c, t, r, cols, count);
  if (HostTensor* const loss = t.find("loss"); loss && count == 0) loss->values[0] = NAN;
}

}  // namespace ridge::cross_entropy
