#include <cmath>

#include "kernels/group_norm/group_norm.h"
#include "ladder/ladder.h"

namespace ridge::group_norm {
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

struct Sizes {
  size_t n, groups, depth, inner;
  size_t cols() const { return depth * inner; }
  size_t channel(size_t row, size_t i) const { return row % groups * depth + i / inner; }
};

void put(HostTensor* out, size_t i, double value, double magnitude) {
  if (!out) return;
  out->values[i] = value;
  out->magnitude[i] = magnitude;
}

// What errors are relative to: the mean is off by roundoffs of the mean |x|, so each distance from
// it is. Only the first rung's variance is off by roundoffs of the mean square, which is allowed
// unless the case is there to show it.
void forward(const Case& c, const Tensors& t, const Sizes& s, size_t r) {
  const double* const x = t.find("x")->values.data() + r * s.cols();
  const double n = double(s.cols());
  double mean = 0, magnitude = 0, squares = 0;
  for (size_t i = 0; i < s.cols(); ++i) {
    mean += x[i];
    magnitude += std::fabs(x[i]) / n;
  }
  mean /= n;  // of equal numbers exactly that number, which leaves no variance
  for (size_t i = 0; i < s.cols(); ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double rstd = 1 / std::sqrt(squares / n + c.number("epsilon"));
  const double off = c.distribution == "large_mean" ? 0 : std::pow(magnitude * rstd, 2);
  for (size_t i = 0; i < s.cols(); ++i) {
    const double gamma = t.at("gamma", s.channel(r, i), 1), beta = t.at("beta", s.channel(r, i), 0);
    const double h = (x[i] - mean) * rstd;
    put(t.find("y"), r * s.cols() + i, h * gamma + beta,
        (std::fabs(h) * (1 + off) + magnitude * rstd * (1 + std::fabs(h))) * std::fabs(gamma) +
            std::fabs(beta));
  }
  put(t.find("mean"), r, mean, magnitude);
  put(t.find("rstd"), r, rstd, rstd * (1 + magnitude * rstd + off));
}

void backward(const Tensors& t, const Sizes& s, size_t r) {
  const double *const x = t.find("x")->values.data() + r * s.cols(),
                      *const dy = t.find("dy")->values.data() + r * s.cols();
  const double mean = t.find("mean")->values[r], rstd = t.find("rstd")->values[r];
  const double n = double(s.cols());
  HostTensor &dgamma = *t.find("dgamma"), &dbeta = *t.find("dbeta");
  // Sums, and those of what they are rounded relative to.
  double sum = 0, product = 0, of_sum = 0, of_product = 0;
  for (size_t i = 0; i < s.cols(); ++i) {
    const size_t channel = s.channel(r, i);
    const double h = (x[i] - mean) * rstd, g = dy[i] * t.at("gamma", channel, 1);
    sum += g / n;
    product += g * h / n;
    of_sum += std::fabs(g) / n;
    of_product += std::fabs(g * h) / n;
    dgamma.values[channel] += dy[i] * h;
    dgamma.magnitude[channel] += std::fabs(dy[i] * h);
    dbeta.values[channel] += dy[i];
    dbeta.magnitude[channel] += std::fabs(dy[i]);
  }
  for (size_t i = 0; i < s.cols(); ++i) {
    const double h = (x[i] - mean) * rstd, g = dy[i] * t.at("gamma", s.channel(r, i), 1);
    put(t.find("dx"), r * s.cols() + i, rstd * (g - sum - h * product),
        rstd * (std::fabs(g) + of_sum + std::fabs(h) * of_product));
  }
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const Sizes s = {size_t(c.size("n")), size_t(c.size("groups")), size_t(c.size("depth")),
                   size_t(c.size("inner"))};
  for (HostTensor& out : all) {
    if (out.spec.role == Role::in) continue;
    // Without elements nothing happens forward, and outputs stay as they were: all bits set.
    out.values.assign(out.values.size(), c.op == 0 && s.cols() == 0 ? NAN : 0);
    out.magnitude.assign(out.values.size(), 0);
  }
  for (size_t r = 0; r < s.n * s.groups && s.cols() > 0; ++r) {
    if (c.op == 1) backward(t, s, r);
    else forward(c, t, s, r);
  }
}

}  // namespace ridge::group_norm
