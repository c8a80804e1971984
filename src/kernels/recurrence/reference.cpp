#include <cmath>

#include "kernels/recurrence/recurrence.h"
#include "ladder/ladder.h"

namespace ridge::recurrence {
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

// h, and what its error is relative to. A summand that entered n steps ago has passed through n
// products and sums since, two roundings each; combining steps in another order adds about four for
// each of the levels of a tile. So the error is under u * (2 aged + 16 terms), where `terms` are
// the |summands| that h is made of, and `aged` the same, each times its age.
struct Chain {
  double h = 0, terms = 0, aged = 0;

  void step(double a, double b, double of_b) {  // of_b: what the error of b is relative to
    const double factor = std::fabs(a);
    h = a * h + b;
    aged = factor == 0 ? of_b : factor * (aged + terms) + of_b;
    terms = factor == 0 ? of_b : factor * terms + of_b;
  }
  double magnitude() const { return 2 * aged + 16 * terms; }
};
void put(HostTensor* out, size_t i, double value, double magnitude) {
  if (!out) return;
  out->values[i] = value;
  out->magnitude[i] = magnitude;
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const auto outer = size_t(c.size("outer")), length = size_t(c.size("length")),
             inner = size_t(c.size("inner"));
  for (HostTensor& out : all) {
    if (out.spec.role == Role::in) continue;
    out.values.assign(out.values.size(), 0);
    out.magnitude.assign(out.values.size(), 0);
  }
  const Op op = Op(c.op);
  // As kernels have them.
  const double gamma = op == Op::gae ? double(float(c.number("gamma"))) : 0;
  const double decay = op == Op::gae ? gamma * double(float(c.number("decay"))) : 0;
  for (size_t row = 0; row < outer * inner; ++row) {
    const auto place = [&](size_t s) { return (row / inner * length + s) * inner + row % inner; };
    Chain chain;
    if (op == Op::forward) {
      chain.h = t.at("initial", row, 0);
      chain.terms = chain.aged = std::fabs(chain.h);
      for (size_t s = 0; s < length; ++s) {
        const double b = t.at("b", place(s), 0);
        chain.step(t.at("a", place(s), 0), b, std::fabs(b));
        put(t.find("h"), place(s), chain.h, chain.magnitude());
      }
      continue;
    }
    for (size_t s = length; s-- > 0;) {
      const bool is_last = s + 1 == length;
      if (op == Op::backward) {
        const double dh = t.at("dh", place(s), 0);
        chain.step(is_last ? 0 : t.at("a", place(s + 1), 0), dh, std::fabs(dh));
        const double before = s > 0 ? t.at("h", place(s - 1), 0) : t.at("initial", row, 0);
        put(t.find("db"), place(s), chain.h, chain.magnitude());
        put(t.find("da"), place(s), chain.h * before,
            chain.magnitude() * std::fabs(before) + std::fabs(chain.h * before));
      } else {
        const double reward = t.at("rewards", place(s), 0), value = t.at("values", place(s), 0);
        const double behind =
            is_last ? t.at("next_value", row, 0) : t.at("values", place(s + 1), 0);
        const bool done = t.at("done", place(s), 0) != 0;
        const double ahead = done ? 0 : gamma * behind;
        chain.step(done ? 0 : decay, reward + ahead - value,
                   std::fabs(reward) + std::fabs(ahead) + std::fabs(value));
        put(t.find("advantages"), place(s), chain.h, chain.magnitude());
        put(t.find("returns"), place(s), chain.h + value, chain.magnitude() + std::fabs(value));
      }
    }
    if (HostTensor* const d = t.find("dinitial")) {
      const double a = length > 0 ? t.at("a", place(0), 0) : 0;
      put(d, row, a * chain.h, std::fabs(a) * chain.magnitude() + std::fabs(a * chain.h));
    }
  }
}

}  // namespace ridge::recurrence
