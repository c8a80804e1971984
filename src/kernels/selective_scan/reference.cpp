#include <cmath>

#include "kernels/selective_scan/selective_scan.h"
#include "ladder/ladder.h"

namespace ridge::selective_scan {
namespace {

struct Tensors {
  std::vector<HostTensor>& all;
  HostTensor* find(const char* name) const {
    for (HostTensor& t : all)
      if (t.spec.name == name) return &t;
    return nullptr;
  }
  double at(const char* name, size_t i, double otherwise) const {
    const HostTensor* const t = find(name);
    return t ? t->values[i] : otherwise;
  }
};
void add(HostTensor* out, size_t i, double value, double magnitude) {
  if (!out) return;
  out->values[i] += value;
  out->magnitude[i] += magnitude;
}

// A number with what its error is relative to, in roundoffs of f32.
struct Known {
  double value = 0, off = 0;
  friend Known operator+(Known x, Known y) {
    return {x.value + y.value, x.off + y.off + std::fabs(x.value + y.value)};
  }
  friend Known operator*(Known x, Known y) {
    return {x.value * y.value,
            x.off * std::fabs(y.value) + std::fabs(x.value) * y.off + std::fabs(x.value * y.value)};
  }
};
Known exactly(double x) { return {x, 0}; }
// exp with an argument that is off: relative to itself. expf itself is off by two.
Known exponential(Known x) {
  const double y = std::exp(x.value);
  return {y, y * (x.off + 2)};
}
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A recurrence h <- a h + b, as the rungs may compute it: a step takes two roundings, and combining
// steps in another order four more for each of the levels of a tile.
struct Chain {
  Known h;
  double terms = 0;  // |summands| that h is made of

  void step(Known a, Known b) {
    terms = std::fabs(a.value) * terms + std::fabs(b.value);
    const double off = std::fabs(a.value) * h.off + a.off * std::fabs(h.value) + b.off;
    h = {a.value * h.value + b.value, off + 2 * terms};
  }
  Known known() const { return {h.value, h.off + 32 * terms}; }
};

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const auto batch = size_t(c.size("batch")), dim = size_t(c.size("dim")),
             state = size_t(c.size("state")), length = size_t(c.size("length"));
  for (HostTensor& out : all) {
    if (out.spec.role == Role::in) continue;
    out.values.assign(out.values.size(), 0);
    out.magnitude.assign(out.values.size(), 0);
  }
  const bool softplus = c.flag("softplus");
  std::vector<Known> s(length), v(length), ds(length), du(length), dv(length), h(length);
  for (size_t channel = 0; channel < batch * dim; ++channel) {
    const size_t sample = channel / dim, d = channel % dim;
    const double skip = t.at("d", d, 0), bias = t.at("delta_bias", d, 0);
    const auto at = [&](size_t step) { return channel * length + step; };
    const auto of = [&](const char* name, size_t step) { return exactly(t.at(name, at(step), 0)); };
    const auto gate = [&](size_t step) {
      if (!t.find("z")) return exactly(1);
      const double z = t.at("z", at(step), 0), y = z * sigmoid(z);
      return Known{y, 8 * std::fabs(y)};
    };
    for (size_t i = 0; i < length; ++i) {
      const Known x = of("delta", i) + exactly(bias);
      s[i] = x;
      if (softplus) {
        const double y = x.value > 30 ? x.value : std::log1p(std::exp(x.value));
        s[i] = {y, sigmoid(x.value) * x.off + 6 * y};
      }
      v[i] = exactly(skip) * of("u", i);
      ds[i] = du[i] = {};
      dv[i] = c.op == 1 ? of("dy", i) * gate(i) : Known();
    }
    for (size_t n = 0; n < state; ++n) {
      const Known a = exactly(t.at("a", d * state + n, 0));
      const auto shared = [&](size_t step) { return (sample * state + n) * length + step; };
      const auto of_b = [&](size_t step) { return exactly(t.at("b", shared(step), 0)); };
      const auto of_c = [&](size_t step) { return exactly(t.at("c", shared(step), 0)); };
      Chain forward;
      for (size_t i = 0; i < length; ++i) {
        forward.step(exponential(s[i] * a), s[i] * of_b(i) * of("u", i));
        h[i] = forward.known();
        v[i] = v[i] + of_c(i) * h[i];
      }
      if (length > 0)
        add(t.find("last_state"), channel * state + n, h[length - 1].value, h[length - 1].off);
      if (c.op == 0) continue;
      Chain backward;
      Known da;
      for (size_t i = length; i-- > 0;) {
        const bool is_last = i + 1 == length;
        backward.step(is_last ? Known() : exponential(s[i + 1] * a), of_c(i) * dv[i]);
        const Known g = backward.known(), before = i > 0 ? h[i - 1] : Known();
        const Known passed = exponential(s[i] * a) * before;
        du[i] = du[i] + g * of_b(i);
        ds[i] = ds[i] + g * (a * passed + of_b(i) * of("u", i));
        const Known one = g * s[i] * passed;
        da = {da.value + one.value, da.off + one.off + double(length) * std::fabs(one.value)};
        const Known of_db = g * s[i] * of("u", i), of_dc = dv[i] * h[i];
        const double sums = double(dim);
        add(t.find("db"), shared(i), of_db.value, of_db.off + sums * std::fabs(of_db.value));
        add(t.find("dc"), shared(i), of_dc.value, of_dc.off + sums * std::fabs(of_dc.value));
      }
      add(t.find("da"), d * state + n, da.value, da.off + double(batch) * std::fabs(da.value));
    }
    for (size_t i = 0; i < length; ++i) {
      if (c.op == 0) {
        const Known y = v[i] * gate(i);
        add(t.find("y"), at(i), y.value, y.off);
        continue;
      }
      const Known of_u = s[i] * du[i] + exactly(skip) * dv[i];
      add(t.find("du"), at(i), of_u.value, of_u.off);
      const double x = t.at("delta", at(i), 0) + bias, slope = softplus ? sigmoid(x) : 1;
      const Known ddelta = ds[i] * Known{slope, softplus ? (6 + std::fabs(x)) * slope : 0};
      add(t.find("ddelta"), at(i), ddelta.value, ddelta.off);
      const double sums = double(length * batch);
      add(t.find("ddelta_bias"), d, ddelta.value, ddelta.off + sums * std::fabs(ddelta.value));
      const Known dd = dv[i] * of("u", i);
      add(t.find("dd"), d, dd.value, dd.off + sums * std::fabs(dd.value));
      if (!t.find("dz")) continue;
      const double z = t.at("z", at(i), 0), p = sigmoid(z), of_z = p * (1 + z * (1 - p));
      const Known dz = of("dy", i) * v[i] * Known{of_z, 8 * p * (1 + std::fabs(z))};
      add(t.find("dz"), at(i), dz.value, dz.off);
    }
  }
}

}  // namespace ridge::selective_scan
