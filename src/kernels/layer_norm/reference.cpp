#include <cmath>

#include "core/number.h"
#include "kernels/layer_norm/layer_norm.h"
#include "ladder/ladder.h"

namespace ridge::layer_norm {
namespace {

struct Tensors {
  std::vector<HostTensor>& all;
  HostTensor* find(const char* name) const {
    for (HostTensor& t : all)
      if (t.spec.name == name) return &t;
    return nullptr;
  }
  // An element of a tensor that may be left out.
  double at(const char* name, size_t i, double otherwise) const {
    const HostTensor* const t = find(name);
    return t ? t->values[i] : otherwise;
  }
};

// What errors are relative to. The mean is off by roundoffs of the mean |x|, so each distance from
// it is, and the variance by the square of that, which is less. Only the first rung's variance is
// off by roundoffs of the mean square, which is allowed unless the case is there to show it.
void forward(const Case& c, const Tensors& t, size_t r, size_t cols, std::vector<double>& row) {
  const bool centred = is_centred(Op(c.op));
  const HostTensor &x = *t.find("x"), *const residual = t.find("residual");
  HostTensor& y = *t.find("y");
  for (size_t i = 0; i < cols; ++i) row[i] = x.values[r * cols + i];
  if (residual) {
    HostTensor& sum = *t.find("sum");
    for (size_t i = 0; i < cols; ++i) {
      sum.values[r * cols + i] = row[i] + residual->values[r * cols + i];
      row[i] = rounded(c.dtype, rounded(Dtype::f32, sum.values[r * cols + i]));
    }
  }
  double mean = 0, magnitude = 0, squares = 0;
  for (const double v : row) {
    mean += v;
    magnitude += std::fabs(v) / double(cols);
  }
  mean /= double(cols);  // of equal numbers exactly that number, which leaves no variance
  if (!centred) mean = magnitude = 0;
  for (const double v : row) squares += (v - mean) * (v - mean);
  const double rstd = 1 / std::sqrt(squares / double(cols) + c.number("epsilon"));
  const double off = c.distribution == "large_mean" ? 0 : std::pow(magnitude * rstd, 2);
  for (size_t i = 0; i < cols; ++i) {
    const double gamma = t.at("gamma", i, 1), beta = t.at("beta", i, 0);
    const double n = (row[i] - mean) * rstd;
    y.values[r * cols + i] = n * gamma + beta;
    y.magnitude[r * cols + i] =
        (std::fabs(n) * (1 + off) + magnitude * rstd * (1 + std::fabs(n))) * std::fabs(gamma) +
        std::fabs(beta);
  }
  if (HostTensor* const out = t.find("mean")) {
    out->values[r] = mean;
    out->magnitude[r] = magnitude;
  }
  if (HostTensor* const out = t.find("rstd")) {
    out->values[r] = rstd;
    out->magnitude[r] = rstd * (1 + magnitude * rstd + off);
  }
}

void backward(const Case& c, const Tensors& t, size_t r, size_t cols) {
  const bool centred = is_centred(Op(c.op));
  const auto &x = t.find("x")->values, &dy = t.find("dy")->values;
  const double mean = t.at("mean", r, 0), rstd = t.find("rstd")->values[r];
  HostTensor &dx = *t.find("dx"), &dgamma = *t.find("dgamma"), *const dbeta = t.find("dbeta");
  // Sums, and those of what they are rounded relative to.
  double sum = 0, product = 0, of_sum = 0, of_product = 0;
  for (size_t i = 0; i < cols; ++i) {
    const size_t at = r * cols + i;
    const double g = dy[at] * t.at("gamma", i, 1), n = (x[at] - mean) * rstd;
    sum += g / double(cols);
    product += g * n / double(cols);
    of_sum += std::fabs(g) / double(cols);
    of_product += std::fabs(g * n) / double(cols);
    dgamma.values[i] += dy[at] * n;
    dgamma.magnitude[i] += std::fabs(dy[at] * n);
    if (!dbeta) continue;
    dbeta->values[i] += dy[at];
    dbeta->magnitude[i] += std::fabs(dy[at]);
  }
  if (!centred) sum = of_sum = 0;
  for (size_t i = 0; i < cols; ++i) {
    const size_t at = r * cols + i;
    const double g = dy[at] * t.at("gamma", i, 1), n = (x[at] - mean) * rstd;
    const double dsum = t.at("dsum", at, 0);
    dx.values[at] = rstd * (g - sum - n * product) + dsum;
    dx.magnitude[at] = rstd * (std::fabs(g) + of_sum + std::fabs(n) * of_product) + std::fabs(dsum);
  }
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const auto rows = size_t(c.size("rows")), cols = size_t(c.size("cols"));
  for (HostTensor& out : all)
    if (out.spec.role != Role::in && out.spec.name != "sum") {
      // Without columns nothing happens, and outputs stay as they were: all bits set.
      out.values.assign(out.values.size(), cols == 0 ? NAN : 0);
      out.magnitude.assign(out.values.size(), 0);
    }
  std::vector<double> row(cols);
  for (size_t r = 0; r < rows && cols > 0; ++r)
    if (is_backward(Op(c.op))) backward(c, t, r, cols);
    else forward(c, t, r, cols, row);
}

}  // namespace ridge::layer_norm
