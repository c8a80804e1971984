#include <cmath>

#include "kernels/batch_norm/batch_norm.h"
#include "ladder/ladder.h"

namespace ridge::batch_norm {
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

struct Places {  // the elements of a channel
  size_t outer, channels, inner;
  template <class F>
  void each(size_t c, F f) const {
    for (size_t o = 0; o < outer; ++o)
      for (size_t j = 0; j < inner; ++j) f((o * channels + c) * inner + j);
  }
  double count() const { return double(outer * inner); }
};

// What is given out, and what its errors are relative to.
void put(HostTensor* out, size_t i, double value, double magnitude) {
  if (!out) return;
  out->values[i] = value;
  out->magnitude[i] = magnitude;
}

// The mean is off by roundoffs of the mean |x|, so each distance from it is, and the variance by
// roundoffs of the deviation times that. Only the first rung's variance is off by roundoffs of the
// mean square, which is allowed unless the case is there to show it.
void train(const Case& c, const Tensors& t, const Places& places, size_t channel) {
  const auto& x = t.find("x")->values;
  const double n = places.count();
  double mean = 0, magnitude = 0, squares = 0;
  places.each(channel, [&](size_t at) {
    mean += x[at];
    magnitude += std::fabs(x[at]) / n;
  });
  mean /= n;  // of equal numbers exactly that number, which leaves no variance
  places.each(channel, [&](size_t at) { squares += (x[at] - mean) * (x[at] - mean); });
  const double variance = squares / n, rstd = 1 / std::sqrt(variance + c.number("epsilon"));
  const bool is_far = c.distribution == "large_mean";
  const double off = is_far ? 0 : std::pow(magnitude * rstd, 2);
  const double gamma = t.at("gamma", channel, 1), beta = t.at("beta", channel, 0);
  HostTensor* const y = t.find("y");
  places.each(channel, [&](size_t at) {
    const double h = (x[at] - mean) * rstd;
    put(y, at, h * gamma + beta,
        (std::fabs(h) * (1 + off) + magnitude * rstd * (1 + std::fabs(h))) * std::fabs(gamma) +
            std::fabs(beta));
  });
  put(t.find("mean"), channel, mean, magnitude);
  put(t.find("rstd"), channel, rstd, rstd * (1 + magnitude * rstd + off));
  const double part = c.number("momentum"), kept = 1 - part;
  const double of_mean = t.at("running_mean", channel, 0);
  const double of_variance = t.at("running_variance", channel, 0);
  const double unbiased = squares / std::max(n - 1, 1.0);
  put(t.find("running_mean"), channel, kept * of_mean + part * mean,
      kept * std::fabs(of_mean) + part * magnitude);
  put(t.find("running_variance"), channel, kept * of_variance + part * unbiased,
      kept * std::fabs(of_variance) +
          part * (unbiased + 2 * magnitude * std::sqrt(unbiased) +
                  (is_far ? 0 : magnitude * magnitude * n / std::max(n - 1, 1.0))));
}

void infer(const Case& c, const Tensors& t, const Places& places, size_t channel) {
  const auto& x = t.find("x")->values;
  const double mean = t.find("running_mean")->values[channel];
  const double variance = t.find("running_variance")->values[channel];
  const double rstd = 1 / std::sqrt(variance + c.number("epsilon"));
  const double gamma = t.at("gamma", channel, 1), beta = t.at("beta", channel, 0);
  places.each(channel, [&](size_t at) {
    const double h = (x[at] - mean) * rstd * gamma;
    put(t.find("y"), at, h + beta, std::fabs(h) + std::fabs(beta));
  });
}

void backward(const Tensors& t, const Places& places, size_t channel) {
  const auto &x = t.find("x")->values, &dy = t.find("dy")->values;
  const double mean = t.find("mean")->values[channel], rstd = t.find("rstd")->values[channel];
  // Sums, and those of what they are rounded relative to.
  double sum = 0, product = 0, of_sum = 0, of_product = 0;
  places.each(channel, [&](size_t at) {
    const double g = dy[at], h = (x[at] - mean) * rstd;
    sum += g;
    product += g * h;
    of_sum += std::fabs(g);
    of_product += std::fabs(g * h);
  });
  put(t.find("dgamma"), channel, product, of_product);
  put(t.find("dbeta"), channel, sum, of_sum);
  const double n = places.count(), factor = t.at("gamma", channel, 1) * rstd;
  places.each(channel, [&](size_t at) {
    const double h = (x[at] - mean) * rstd;
    put(t.find("dx"), at, factor * (dy[at] - sum / n - h * product / n),
        std::fabs(factor) * (std::fabs(dy[at]) + (of_sum + std::fabs(h) * of_product) / n));
  });
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const Places places = {size_t(c.size("outer")), size_t(c.size("channels")),
                         size_t(c.size("inner"))};
  const bool is_empty = places.count() == 0, is_backward = Op(c.op) == Op::backward;
  for (HostTensor& out : all) {
    if (out.spec.role == Role::in) continue;
    // Without elements nothing happens forward, and outputs stay as they were: all bits set.
    if (out.spec.role == Role::out)
      out.values.assign(out.values.size(), is_empty && !is_backward ? NAN : 0);
    out.magnitude.assign(out.values.size(), 0);
  }
  for (size_t channel = 0; channel < places.channels; ++channel) {
    if (is_backward) {
      backward(t, places, channel);
    } else if (!is_empty) {
      if (Op(c.op) == Op::train) train(c, t, places, channel);
      else infer(c, t, places, channel);
    }
  }
}

}  // namespace ridge::batch_norm
