#include <algorithm>
#include <cmath>

#include "kernels/policy_losses/policy_losses.h"
#include "ladder/ladder.h"

namespace ridge::policy_losses {
namespace {

struct Tensors {
  std::vector<HostTensor>& all;
  HostTensor* find(const char* name) const {
    for (HostTensor& t : all)
      if (t.spec.name == name) return &t;
    return nullptr;
  }
  double at(const char* name, size_t i) const { return find(name)->values[i]; }
  // Adds a term to an output. Errors are relative to the sum of the sizes.
  void add(const char* name, size_t i, double value, double size) const {
    HostTensor& t = *find(name);
    t.values[i] += value;
    t.magnitude[i] += std::fabs(size);
  }
};

// The clipped surrogate, and what follows from it for a gradient by logp.
struct Surrogate {
  double value, derivative;
  Surrogate(double ratio, double advantage, double low, double high) {
    const double plain = ratio * advantage;
    const double limited = std::clamp(ratio, 1 - low, 1 + high) * advantage;
    value = std::isnan(plain) ? plain : std::min(plain, limited);
    derivative = std::isnan(plain) || plain <= limited ? plain : 0;
  }
};

void ppo(const Case& c, const Tensors& t, size_t i, double weight) {
  const double clip = c.number("clip"), advantage = t.at("advantages", i);
  const double ratio = std::exp(t.at("logp", i) - t.at("old_logp", i));
  const Surrogate s(ratio, advantage, clip, clip);
  const double value = t.at("values", i), should_be = t.at("returns", i);
  double worst = value - should_be, slope = worst, size = std::fabs(value) + std::fabs(should_be);
  if (t.find("old_values")) {
    const double old = t.at("old_values", i), reach = c.number("value_clip");
    const double clipped = std::clamp(value, old - reach, old + reach);
    size += std::fabs(old) + reach;
    if (std::fabs(clipped - should_be) > std::fabs(worst)) {
      worst = clipped - should_be;
      slope = 0;
    }
    if (std::isnan(old)) worst = slope = NAN;
  }
  const double entropy = t.find("entropy") ? t.at("entropy", i) : 0, of_value = worst * worst / 2;
  const double factors[] = {c.number("value_weight"), c.number("entropy_weight")};
  const double policy_size = (ratio + 1) * advantage, value_size = size * size;
  t.add("losses", 0, weight * (-s.value + factors[0] * of_value - factors[1] * entropy),
        weight *
            (std::fabs(policy_size) + factors[0] * value_size + factors[1] * std::fabs(entropy)));
  t.add("losses", 1, -weight * s.value, weight * policy_size);
  t.add("losses", 2, weight * of_value, weight * value_size);
  t.add("losses", 3, weight * entropy, weight * entropy);
  t.add("dlogp", i, -weight * s.derivative, weight * policy_size);
  t.add("dvalues", i, weight * factors[0] * slope, weight * factors[0] * size);
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

void dpo(const Case& c, const Tensors& t, size_t i, double weight) {
  const double beta = c.number("beta"), wrong = c.number("label_smoothing"), right = 1 - wrong;
  const double chosen = t.at("chosen", i) - t.at("ref_chosen", i);
  const double rejected = t.at("rejected", i) - t.at("ref_rejected", i);
  const double h = beta * (chosen - rejected);
  double loss = right * softplus(-h), slope = right / (1 + std::exp(h));
  if (wrong > 0) {
    loss += wrong * softplus(h);
    slope -= wrong / (1 + std::exp(-h));
  }
  // An error of h is one of the loss, and of the slope's logarithm.
  const double of_h = 1 + beta * (2 + std::fabs(chosen) + std::fabs(rejected));
  t.add("loss", 0, weight * loss, weight * (std::fabs(loss) + of_h));
  const double size =
      weight * beta * (right / (1 + std::exp(h)) + wrong / (1 + std::exp(-h))) * of_h;
  t.add("dchosen", i, -weight * beta * slope, size);
  t.add("drejected", i, weight * beta * slope, size);
}

void grpo(const Case& c, const Tensors& t, size_t i, double weight) {
  const double logp = t.at("logp", i), beta = c.number("beta");
  const double advantage = t.at("advantages", i / size_t(c.size("cols")));
  const double ratio = t.find("old_logp") ? std::exp(logp - t.at("old_logp", i)) : 1;
  const Surrogate s(ratio, advantage, c.number("clip_low"), c.number("clip_high"));
  double loss = -s.value, slope = -s.derivative, size = std::fabs((ratio + 1) * advantage);
  double slope_size = size;
  if (t.find("ref_logp")) {
    const double d = t.at("ref_logp", i) - logp, more = std::expm1(d);
    loss += beta * (more - d);
    slope -= beta * more;
    // Only the first rung subtracts 1 from something near 1, which is allowed unless the case is
    // there to show it.
    const double rounded_1 = c.distribution == "unlikely" ? 0 : 2;
    size += beta * (std::fabs(more) + std::fabs(d) + rounded_1);
    slope_size += beta * (std::fabs(more) + rounded_1);
  }
  t.add("loss", 0, weight * loss, weight * size);
  t.add("dlogp", i, weight * slope, weight * slope_size);
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const Op op = Op(c.op);
  for (HostTensor& out : all)
    if (out.spec.role == Role::out) {
      out.values.assign(out.values.size(), 0);
      out.magnitude.assign(out.values.size(), 0);
    }
  const size_t count = all.front().values.size(),
               rows = op == Op::grpo ? size_t(c.size("rows")) : 1;
  const HostTensor* const mask = t.find("mask");
  const auto counts = [&](size_t i) { return !mask || mask->values[i] != 0; };
  const bool by_row = op == Op::grpo && Average(c.integer("average")) == Average::sequence;
  const size_t together = by_row ? size_t(c.size("cols")) : count;
  for (size_t first = 0; first < count; first += together) {
    double averaged = 0;
    for (size_t i = first; i < first + together; ++i) averaged += counts(i);
    const double weight = 1 / (averaged * (by_row ? double(rows) : 1));
    for (size_t i = first; i < first + together; ++i) {
      if (!counts(i)) continue;
      if (op == Op::ppo) ppo(c, t, i, weight);
      else if (op == Op::dpo) dpo(c, t, i, weight);
      else grpo(c, t, i, weight);
    }
  }
}

}  // namespace ridge::policy_losses
