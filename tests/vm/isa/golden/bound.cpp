#include "bound.h"

#include <cmath>
#include <cstring>

namespace ridge::golden {
namespace {

using vm::Type;

struct Row {
  std::string_view root, type;
  Bound bound;
};
// As the PTX ISA states them; the first row that fits.
constexpr double kUlp = 0x1p-23;  // of f32, relative to a power of two
const Row kRows[] = {
    {"rcp", "f32", {kUlp, 0, "1 ulp"}},
    {"rcp", "f64", {0x1p-20, 0, "relative 2^-20 (of the upper word)"}},
    {"div", "f32", {2 * kUlp, 0, "2 ulp"}},
    {"sqrt", "f32", {0x1p-23, 0, "relative 2^-23"}},
    {"rsqrt", "f32", {0x1.12p-23, 0, "relative 2^-22.9"}},
    {"rsqrt", "f64", {0x1p-20, 0, "relative 2^-20 (of the upper word)"}},
    {"ex2", "f32", {2 * kUlp, 0, "2 ulp"}},
    {"ex2", "f16", {0x1.12p-10, 0, "relative 2^-9.9"}},
    {"ex2", "f16x2", {0x1.12p-10, 0, "relative 2^-9.9"}},
    {"ex2", "bf16", {0x1p-7, 0, "relative 2^-7"}},
    {"ex2", "bf16x2", {0x1p-7, 0, "relative 2^-7"}},
    {"lg2", "f32", {0x1p-22, 0x1p-22, "absolute 2^-22 in (0.5, 2), else relative 2^-22"}},
    {"sin", "f32", {0, 0x1.6ap-21, "absolute 2^-20.5 in [-pi, pi], 2^-14.7 in [-100 pi, 100 pi]"}},
    {"cos", "f32", {0, 0x1.6ap-21, "absolute 2^-20.5 in [-pi, pi], 2^-14.7 in [-100 pi, 100 pi]"}},
    {"tanh", "f32", {0x1p-11, 0, "relative 2^-11"}},
    {"tanh", "f16", {0, 0x1.03p-11, "absolute 2^-10.987"}},
    {"tanh", "f16x2", {0, 0x1.03p-11, "absolute 2^-10.987"}},
    {"tanh", "bf16", {0, 0x1p-8, "absolute 2^-8"}},
    {"tanh", "bf16x2", {0, 0x1p-8, "absolute 2^-8"}},
};

double value_of(Type type, uint64_t bits) {
  switch (type) {
    case Type::f64: {
      double d;
      std::memcpy(&d, &bits, 8);
      return d;
    }
    case Type::f32: {
      const uint32_t u = uint32_t(bits);
      float f;
      std::memcpy(&f, &u, 4);
      return f;
    }
    default: {
      const bool brain = type == Type::bf16;
      const int mantissa = brain ? 7 : 10, bias = brain ? 127 : 15, top = brain ? 255 : 31;
      const int e = int(bits >> mantissa) & top, m = int(bits) & ((1 << mantissa) - 1);
      const double v = e == top ? (m ? NAN : INFINITY)
                       : e      ? std::ldexp(m + (1 << mantissa), e - bias - mantissa)
                                : std::ldexp(m, 1 - bias - mantissa);
      return bits & 0x8000 ? -v : v;
    }
  }
}

bool close(const Bound& bound, std::string_view root, Type type, double x, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  double absolute = bound.absolute;
  if (root == "sin" || root == "cos") {
    const double distance = std::fabs(x);
    if (distance > 100 * 3.14159265358979)
      return std::fabs(a) <= 1.001 && std::fabs(b) <= 1.001;  // no bound stated
    if (distance > 3.14159265358979) absolute = 0x1.4ep-15;
  }
  if (std::isinf(a) || std::isinf(b)) return false;
  const double size = std::fmax(std::fabs(a), std::fabs(b));
  // Each is off by the bound at most, and rounded to its type.
  const double ulp = type == Type::f64    ? 0x1p-52
                     : type == Type::f32  ? 0x1p-23
                     : type == Type::bf16 ? 0x1p-7
                                          : 0x1p-10;
  const double smallest = type == Type::f64 ? 0x1p-1022 : type == Type::f16 ? 0x1p-24 : 0x1p-126;
  return std::fabs(a - b) <= 2 * absolute + (2 * bound.relative + ulp) * size + smallest;
}

}  // namespace

Bound bound_of(std::string_view spelling) {
  if (spelling.find(".approx") == std::string_view::npos &&
      spelling.find(".full") == std::string_view::npos)
    return {};
  const std::string_view root = spelling.substr(0, spelling.find('.'));
  const std::string_view type = spelling.substr(spelling.rfind('.') + 1);
  for (const Row& row : kRows)
    if (row.root == root && row.type == type) return row.bound;
  return {};
}

bool within(const Bound& bound, std::string_view spelling, Type type, uint64_t input, uint64_t a,
            uint64_t b) {
  if (a == b) return true;
  const std::string_view root = spelling.substr(0, spelling.find('.'));
  if (type == Type::f16x2 || type == Type::bf16x2) {
    const Type half = type == Type::f16x2 ? Type::f16 : Type::bf16;
    for (int shift : {0, 16})
      if (!close(bound, root, half, value_of(half, input >> shift & 0xffff),
                 value_of(half, a >> shift & 0xffff), value_of(half, b >> shift & 0xffff)))
        return false;
    return true;
  }
  return close(bound, root, type, value_of(type, input), value_of(type, a), value_of(type, b));
}

}  // namespace ridge::golden
