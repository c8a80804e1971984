// Arithmetic of f32 and f64 against exact integer arithmetic in every rounding mode, with and
// without .ftz and .sat; sign and order against their definitions; approximations against long
// double within the error PTX allows.
#include <cmath>
#include <functional>
#include <random>

#include "exact.h"
#include "run_one.h"

namespace ridge::vm::test {
namespace {

constexpr uint64_t kNan32Bits = 0x7fffffff, kNan64Bits = 0xfff8000000000000;
constexpr const char* kModes[] = {"rn", "rz", "rm", "rp"};

float f32(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
double f64(uint64_t bits) { return std::bit_cast<double>(bits); }

const std::vector<uint64_t> kEdges32 = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff,
                                        0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x3f800000,
                                        0xbf800000, 0x3f7fffff, 0x3f800001, 0x40000000, 0x3f7ff800,
                                        0x00800400, 0x4b000001, 0x7e800001, 0x7f7fffff, 0xff7fffff,
                                        0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001};
const std::vector<uint64_t> kEdges64 = {0,
                                        0x8000000000000000,
                                        1,
                                        0x8000000000000001,
                                        0x000fffffffffffff,
                                        0x0010000000000000,
                                        0x8010000000000000,
                                        0x3ff0000000000000,
                                        0xbff0000000000000,
                                        0x3fefffffffffffff,
                                        0x3ff0000000000001,
                                        0x4000000000000000,
                                        0x4340000000000001,
                                        0x7fefffffffffffff,
                                        0xffefffffffffffff,
                                        0x7ff0000000000000,
                                        0xfff0000000000000,
                                        0x7ff8000012345678,
                                        0xfff0000087654321};

// All pairs (or triples of some) edges, then random numbers whose exponents make cancellation,
// underflow and overflow likely.
std::vector<Row> operand_rows(const Layout& f, int arity, int count, uint64_t seed) {
  const std::vector<uint64_t>& edges = f.bits == 32 ? kEdges32 : kEdges64;
  std::vector<Row> rows;
  for (uint64_t a : edges) {
    if (arity == 1) rows.push_back({a});
    for (size_t i = 0; arity > 1 && i < edges.size(); ++i) {
      if (arity == 2) rows.push_back({a, edges[i]});
      for (size_t k = i % 3; arity == 3 && k < edges.size(); k += 3)
        rows.push_back({a, edges[i], edges[k]});
    }
  }
  std::mt19937_64 random(seed);
  for (int n = 0; n < count; ++n) {
    Row row;
    const int around = n % 3 == 0 ? f.bias : n % 3 == 1 ? f.bias / 2 + 1 : 0;
    for (int k = 0; k < arity; ++k) {
      uint64_t fraction = random();
      if (random() % 3 == 0) fraction &= ~0ull << (random() % unsigned(f.mantissa));
      if (random() % 3 == 0) fraction |= (1ull << (random() % unsigned(f.mantissa))) - 1;
      uint64_t exponent =
          around ? uint64_t(around) - 4 + random() % 8 : random() % uint64_t(2 * f.bias + 1);
      if (around && around != f.bias && k == 2)
        exponent = random() % 4;  // c where a * b is: near the least normal
      row.push_back((random() & 1 ? f.sign() : 0) | exponent << f.mantissa |
                    (fraction & ((1ull << f.mantissa) - 1)));
    }
    rows.push_back(row);
  }
  return rows;
}

enum class Op { add, sub, mul, fma, div, rcp, sqrt };

struct Options {
  Mode mode = Mode::rn;
  bool ftz = false, sat = false;
};

// What the hardware gives, NaNs included: f32's only one, or a f64 operand's, quiet, in the order
// the hardware looks.
uint64_t reference(const Layout& f, Op op, const Options& o, Row row) {
  const uint64_t one = uint64_t(f.bias) << f.mantissa;
  if (o.ftz)
    for (uint64_t& x : row)
      if (f.is_subnormal(x)) x &= f.sign();
  const auto nan = [&]() -> uint64_t {
    if (o.sat) return 0;
    if (f.bits == 32) return kNan32Bits;
    const std::vector<int> order = op == Op::fma                     ? std::vector<int>{1, 2, 0}
                                   : op == Op::div                   ? std::vector<int>{0, 1}
                                   : op == Op::rcp || op == Op::sqrt ? std::vector<int>{0}
                                                                     : std::vector<int>{1, 0};
    for (int k : order)
      if (f.is_nan(row[size_t(k)])) return row[size_t(k)] | uint64_t(1) << (f.mantissa - 1);
    return kNan64Bits;
  };
  const auto finish = [&](uint64_t bits) -> uint64_t {
    if (!o.sat) return bits;
    return f.negative(bits) ? 0 : std::min(bits, one);
  };
  for (uint64_t x : row)
    if (f.is_nan(x)) return nan();
  if (op == Op::sub) row[1] ^= f.sign();
  if (op == Op::rcp) row = {one, row[0]};

  if (op == Op::sqrt) {
    if (f.is_zero(row[0])) return row[0];
    if (f.negative(row[0])) return nan();
    if (f.is_infinite(row[0])) return row[0];
    return rounded(f, square_root(exact(f, row[0])), o.mode);
  }
  const bool minus = f.negative(row[0]) != f.negative(row[1]);
  const uint64_t sign = minus ? f.sign() : 0;
  const auto round = [&](Exact x) {
    return finish(o.ftz ? rounded_ftz(f, x, o.mode) : rounded(f, x, o.mode));
  };
  if (op == Op::div || op == Op::rcp) {
    if ((f.is_infinite(row[0]) && f.is_infinite(row[1])) ||
        (f.is_zero(row[0]) && f.is_zero(row[1])))
      return nan();
    if (f.is_infinite(row[0]) || f.is_zero(row[1])) return sign | f.infinity();
    if (f.is_infinite(row[1]) || f.is_zero(row[0])) return sign;
    return round(quotient(exact(f, row[0]), exact(f, row[1])));
  }

  // mul and fma; add and sub are a product with one. An infinite product stands for itself.
  Exact p, c;
  bool p_infinite = false, p_minus = minus;
  uint64_t addend = 0;
  if (op == Op::mul || op == Op::fma) {
    if ((f.is_infinite(row[0]) && f.is_zero(row[1])) ||
        (f.is_zero(row[0]) && f.is_infinite(row[1])))
      return nan();
    p_infinite = f.is_infinite(row[0]) || f.is_infinite(row[1]);
    if (!p_infinite) p = product(exact(f, row[0]), exact(f, row[1]));
    if (op == Op::mul) return p_infinite ? finish(sign | f.infinity()) : round(p);
    addend = row[2];
  } else {
    p_minus = f.negative(row[0]);
    p_infinite = f.is_infinite(row[0]);
    if (!p_infinite) p = exact(f, row[0]);
    addend = row[1];
  }
  if (p_infinite && f.is_infinite(addend) && p_minus != f.negative(addend)) return nan();
  if (p_infinite) return finish((p_minus ? f.sign() : 0) | f.infinity());
  if (f.is_infinite(addend)) return finish(addend);
  c = exact(f, addend);
  Exact s = sum(p, c);
  if (s.significand == 0 && !s.sticky && p.negative != c.negative) s.negative = o.mode == Mode::rm;
  return round(s);
}

void check(const std::string& root, Op op, int arity, bool takes_sat) {
  for (int mode = 0; mode < 4; ++mode) {
    const std::string with_mode = root + "." + kModes[mode];
    const auto wide = operand_rows(kF64, arity, 3000, uint64_t(mode) + 7);
    expect_rows(with_mode + ".f64", wide,
                [&](const Row& r) { return reference(kF64, op, {Mode(mode)}, r); });
    for (int ftz = 0; ftz < 2; ++ftz)
      for (int sat = 0; sat < (takes_sat ? 2 : 1); ++sat) {
        const auto rows = operand_rows(kF32, arity, 3000, uint64_t(mode * 4 + ftz * 2 + sat));
        expect_rows(with_mode + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32", rows,
                    [&](const Row& r) {
                      return reference(kF32, op, {Mode(mode), bool(ftz), bool(sat)}, r);
                    });
      }
  }
}
TEST(Float, Add) { check("add", Op::add, 2, true); }
TEST(Float, Subtract) { check("sub", Op::sub, 2, true); }
TEST(Float, Multiply) { check("mul", Op::mul, 2, true); }
TEST(Float, FusedMultiplyAdd) { check("fma", Op::fma, 3, true); }
TEST(Float, MadIsFused) { check("mad", Op::fma, 3, true); }
TEST(Float, Divide) { check("div", Op::div, 2, false); }
TEST(Float, Reciprocal) { check("rcp", Op::rcp, 1, false); }
TEST(Float, SquareRoot) { check("sqrt", Op::sqrt, 1, false); }

TEST(Float, NoModeMeansNearest) {
  const auto rows = operand_rows(kF32, 2, 500, 1);
  expect_rows("add.f32", rows, [](const Row& r) { return reference(kF32, Op::add, {}, r); });
  expect_rows("sub.sat.f32", rows, [](const Row& r) {
    return reference(kF32, Op::sub, {Mode::rn, false, true}, r);
  });
  expect_rows("mul.ftz.f32", rows, [](const Row& r) {
    return reference(kF32, Op::mul, {Mode::rn, true}, r);
  });
}

// A result that rounds up to the least normal number is not flushed; one that is tiny first and
// then rounds up is.
TEST(Float, FlushesWhatIsTinyAfterRounding) {
  EXPECT_EQ(run_rows("mul.rn.ftz.f32", {{0x3f7ff800, 0x00800400}})[0], 0x00800000u);
  EXPECT_EQ(run_rows("mul.rn.ftz.f32", {{0x3f7fffff, 0x00800000}})[0], 0u);
  EXPECT_EQ(run_rows("mul.rn.f32", {{0x3f7fffff, 0x00800000}})[0], 0x00800000u);
  EXPECT_EQ(run_rows("fma.rz.ftz.f32", {{0x0d800000, 0x8d800000, 0x00800000}})[0], 0u);
}

// --- order and sign ---

uint64_t minmax_reference(const Layout& f, bool max, bool ftz, bool nan, bool xorsign, uint64_t a,
                          uint64_t b) {
  if (ftz && f.is_subnormal(a)) a &= f.sign();
  if (ftz && f.is_subnormal(b)) b &= f.sign();
  const uint64_t sign = xorsign ? (a ^ b) & f.sign() : 0;
  if (xorsign) a = f.magnitude(a), b = f.magnitude(b);
  const uint64_t canonical = f.bits == 32 ? kNan32Bits : b | 1ull << 51;
  if (f.is_nan(a) && f.is_nan(b)) return canonical;
  if (nan && (f.is_nan(a) || f.is_nan(b))) return canonical;
  if (f.is_nan(a)) return b | sign;
  if (f.is_nan(b)) return a | sign;
  const auto below = [&](uint64_t x, uint64_t y) {  // -0 < +0
    if (f.negative(x) != f.negative(y)) return f.negative(x);
    return f.negative(x) ? x > y : x < y;
  };
  return (below(a, b) != max ? a : b) | sign;
}
TEST(Float, MinMax) {
  const auto rows = operand_rows(kF32, 2, 1000, 3);
  for (int max = 0; max < 2; ++max) {
    for (int flags = 0; flags < 8; ++flags) {
      const bool ftz = flags & 1, nan = flags & 2, xorsign = flags & 4;
      const std::string name = std::string(max ? "max" : "min") + (ftz ? ".ftz" : "") +
                               (nan ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : "") + ".f32";
      expect_rows(name, rows, [&](const Row& r) {
        return minmax_reference(kF32, max, ftz, nan, xorsign, r[0], r[1]);
      });
    }
    expect_rows(max ? "max.f64" : "min.f64", operand_rows(kF64, 2, 1000, 4), [&](const Row& r) {
      return minmax_reference(kF64, max, false, false, false, r[0], r[1]);
    });
  }
}
TEST(Float, SignAndMagnitude) {
  for (const bool ftz : {false, true}) {
    const auto in = [=](uint64_t x) { return ftz && kF32.is_subnormal(x) ? x & kF32.sign() : x; };
    const auto rows = operand_rows(kF32, 1, 1000, 5);
    const std::string suffix = ftz ? ".ftz.f32" : ".f32";
    expect_rows("abs" + suffix, rows, [&](const Row& r) {
      return kF32.is_nan(r[0]) ? kNan32Bits : in(r[0]) & ~kF32.sign();
    });
    expect_rows("neg" + suffix, rows, [&](const Row& r) {
      return kF32.is_nan(r[0]) ? kNan32Bits : in(r[0]) ^ kF32.sign();
    });
  }
  // A f64 NaN keeps its sign and payload, whatever is asked for.
  const auto rows = operand_rows(kF64, 1, 1000, 6);
  expect_rows("abs.f64", rows, [](const Row& r) {
    return kF64.is_nan(r[0]) ? r[0] | 1ull << 51 : r[0] & ~kF64.sign();
  });
  expect_rows("neg.f64", rows, [](const Row& r) {
    return kF64.is_nan(r[0]) ? r[0] | 1ull << 51 : r[0] ^ kF64.sign();
  });
  expect_rows("copysign.f32", operand_rows(kF32, 2, 500, 7),
              [](const Row& r) { return (r[0] & kF32.sign()) | kF32.magnitude(r[1]); });
  expect_rows("copysign.f64", operand_rows(kF64, 2, 500, 8),
              [](const Row& r) { return (r[0] & kF64.sign()) | kF64.magnitude(r[1]); });
}
TEST(Float, Classes) {
  for (const Layout& f : {kF32, kF64}) {
    const auto rows = operand_rows(f, 1, 500, 9);
    const std::string type = f.bits == 32 ? ".f32" : ".f64";
    const auto value = [&](const Row& r) { return f.bits == 32 ? double(f32(r[0])) : f64(r[0]); };
    expect_rows("testp.finite" + type, rows, [&](const Row& r) { return std::isfinite(value(r)); });
    expect_rows("testp.infinite" + type, rows, [&](const Row& r) { return std::isinf(value(r)); });
    expect_rows("testp.number" + type, rows, [&](const Row& r) { return !std::isnan(value(r)); });
    expect_rows("testp.notanumber" + type, rows,
                [&](const Row& r) { return std::isnan(value(r)); });
    expect_rows("testp.normal" + type, rows, [&](const Row& r) {
      return std::isfinite(value(r)) && !f.is_subnormal(r[0]);  // zeros count
    });
    expect_rows("testp.subnormal" + type, rows, [&](const Row& r) { return f.is_subnormal(r[0]); });
  }
}

// --- approximations ---

struct Approximation {
  std::string name;
  std::function<long double(long double)> truth;
  double relative, absolute;  // either bound suffices
  float from, to;             // arguments, by magnitude where both signs are meant
};

void check_approximation(const Approximation& a) {
  for (const bool ftz : {false, true}) {
    if (ftz && a.name == "tanh") continue;
    std::vector<Row> rows;
    for (const float sign : {1.0f, -1.0f})
      for (int i = 0; i <= 20000; ++i) {
        const float x = sign * (a.from + (a.to - a.from) * float(i) / 20000.0f);
        rows.push_back({std::bit_cast<uint32_t>(x)});
      }
    for (uint32_t e = 0; e < 255; ++e)
      for (uint32_t m : {0u, 1u, 0x345678u, 0x7fffffu})
        for (uint32_t s : {0u, 0x80000000u}) rows.push_back({s | e << 23 | m});
    const std::vector<uint64_t> results =
        run_rows(a.name + ".approx" + (ftz ? ".ftz" : "") + ".f32", rows);
    int bad = 0;
    for (size_t i = 0; i < rows.size() && bad < 4; ++i) {
      uint32_t bits = uint32_t(rows[i][0]);
      if (ftz && kF32.is_subnormal(bits)) bits &= 0x80000000;
      const float x = f32(bits);
      if (std::fabs(x) > std::fabs(a.to) && a.absolute > 0 && a.name != "tanh" && a.name != "lg2")
        continue;
      const long double truth = a.truth(x);
      const float got = f32(results[i]);
      if (std::isnan(truth)) {
        bad += results[i] != kNan32Bits;
        EXPECT_EQ(results[i], kNan32Bits) << a.name << " of " << x;
        continue;
      }
      const long double error = std::fabs(truth - (long double)got);
      const bool fine = float(truth) == got || error <= a.absolute ||
                        error <= a.relative * std::fabs(truth) ||
                        (std::fabs(truth) < 0x1p-126L && error <= (ftz ? 0x1p-126L : 0x1p-149L));
      bad += !fine;
      EXPECT_TRUE(fine) << a.name << (ftz ? ".ftz of " : " of ") << x << " gives " << got
                        << ", not " << double(truth);
    }
  }
}
TEST(FloatApproximation, Ex2) {
  check_approximation(
      {"ex2", [](long double x) { return std::exp2(x); }, 0x1p-23 * 1.01, 0, 0, 150});
}
TEST(FloatApproximation, Lg2) {
  check_approximation({"lg2", [](long double x) { return std::log2(x); }, 0x1p-23, 0, 0.25, 4});
}
TEST(FloatApproximation, Sine) {
  check_approximation(
      {"sin", [](long double x) { return std::sin(x); }, 0x1p-23, 0x1p-30, 0, 6.2831855f});
}
TEST(FloatApproximation, Cosine) {
  check_approximation(
      {"cos", [](long double x) { return std::cos(x); }, 0x1p-23, 0x1p-30, 0, 6.2831855f});
}
TEST(FloatApproximation, Tanh) {
  check_approximation({"tanh", [](long double x) { return std::tanh(x); }, 0x1p-22, 0, 0, 10});
}
TEST(FloatApproximation, Rsqrt) {
  check_approximation(
      {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 0x1p-22 * 0.53, 0, 0, 100});
}
TEST(FloatApproximation, RcpAndSqrt) {
  check_approximation({"rcp", [](long double x) { return 1 / x; }, 0x1p-24, 0, 0, 100});
  check_approximation({"sqrt", [](long double x) { return std::sqrt(x); }, 0x1p-24, 0, 0, 100});
}

TEST(FloatApproximation, SpecialValues) {
  const uint64_t inf = 0x7f800000, minus_inf = 0xff800000, zero = 0, minus_zero = 0x80000000,
                 nan = 0x7fc12345;
  const auto expect = [](const char* name, std::vector<std::pair<uint64_t, uint64_t>> pairs) {
    for (const auto& [x, want] : pairs)
      EXPECT_EQ(run_rows(name, {{x}})[0], want) << name << std::hex << " of " << x;
  };
  expect("ex2.approx.f32",
         {{inf, inf}, {minus_inf, 0}, {zero, 0x3f800000}, {nan, kNan32Bits}, {1, 0x3f800000}});
  expect("lg2.approx.f32", {{inf, inf},
                            {minus_inf, kNan32Bits},
                            {zero, minus_inf},
                            {minus_zero, minus_inf},
                            {nan, kNan32Bits},
                            {0xbf800000, kNan32Bits},
                            {1, 0xc3150000},
                            {0x3f800000, 0}});
  expect("lg2.approx.ftz.f32", {{1, minus_inf}, {0x80000001, minus_inf}});
  expect("sin.approx.f32",
         {{inf, kNan32Bits}, {zero, zero}, {minus_zero, minus_zero}, {nan, kNan32Bits}});
  expect("cos.approx.f32", {{minus_inf, kNan32Bits}, {zero, 0x3f800000}, {minus_zero, 0x3f800000}});
  expect("tanh.approx.f32",
         {{inf, 0x3f800000}, {minus_inf, 0xbf800000}, {minus_zero, minus_zero}, {1, 1}});
  expect("rsqrt.approx.f32",
         {{inf, 0}, {zero, inf}, {minus_zero, minus_inf}, {0xbf800000, kNan32Bits}});
  expect("rsqrt.approx.ftz.f32", {{1, inf}, {0x80000001, minus_inf}});
  expect("rcp.approx.ftz.f32",
         {{inf, 0}, {minus_inf, minus_zero}, {1, inf}, {0x80000001, minus_inf}});
  expect("sqrt.approx.ftz.f32",
         {{inf, inf}, {minus_zero, minus_zero}, {1, 0}, {0x80000001, minus_zero}});
  // A divisor above 2^126 makes div.approx give 0, or a NaN from infinity; div.full is right
  // everywhere.
  EXPECT_EQ(run_rows("div.approx.f32", {{0x7f000000, 0x7e800001}})[0], 0u);
  EXPECT_EQ(run_rows("div.approx.f32", {{inf, 0x7f000000}})[0], kNan32Bits);
  EXPECT_EQ(run_rows("div.full.f32", {{0x7f000000, 0x7f000000}})[0], 0x3f800000u);
}

TEST(FloatApproximation, DoubleStartingValues) {
  std::mt19937_64 random(3);
  std::vector<Row> rows;
  for (int i = 0; i < 2000; ++i) rows.push_back({(random() % 2000 + 20) << 52 | (random() >> 12)});
  const std::vector<uint64_t> rcp = run_rows("rcp.approx.ftz.f64", rows),
                              rsqrt = run_rows("rsqrt.approx.ftz.f64", rows);
  const std::vector<uint64_t> accurate = run_rows("rsqrt.approx.f64", rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double x = f64(rows[i][0]);
    EXPECT_LE(std::fabs(f64(rcp[i]) * x - 1), 0x1p-19);
    EXPECT_LE(std::fabs(f64(rsqrt[i]) * std::sqrt(x) - 1), 0x1p-19);
    EXPECT_LE(std::fabs(f64(accurate[i]) * std::sqrt(x) - 1), 0x1p-51);
    EXPECT_EQ(uint32_t(rcp[i]) | uint32_t(rsqrt[i]), 0u);
  }
  EXPECT_EQ(run_rows("rcp.approx.ftz.f64", {{0x7ff8000012345678}})[0], 0x7fffffff00000000u);
  EXPECT_EQ(run_rows("rcp.approx.ftz.f64", {{0x8000000000000001}})[0], 0xfff0000000000000u);
}

}  // namespace
}  // namespace ridge::vm::test
