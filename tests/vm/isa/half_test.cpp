// f16 and bf16, scalar and packed, against exact integer arithmetic; unary instructions over all
// 65536 values.
#include "vm/isa/half.h"

#include <cmath>
#include <random>

#include "exact.h"
#include "run_one.h"

namespace ridge::vm::test {
namespace {

struct Format {
  std::string name;
  Layout layout;
  bool ftz;  // has .ftz and .sat forms
};
const Format kFormats[] = {{"f16", kF16, true}, {"bf16", kBf16, false}};

std::vector<uint64_t> edges(const Layout& f) {
  const uint64_t one = uint64_t(f.bias) << f.mantissa, least = 1ull << f.mantissa;
  std::vector<uint64_t> all = {0,
                               1,
                               2,
                               least - 1,
                               least,
                               least + 1,
                               one - 1,
                               one,
                               one + 1,
                               one + least,
                               f.infinity() - 1,
                               f.infinity(),
                               f.infinity() + 1,
                               0x7fff,
                               one - 8 * least};
  const size_t positive = all.size();
  for (size_t i = 0; i < positive; ++i) all.push_back(all[i] | 0x8000);
  return all;
}
std::vector<Row> operand_rows(const Layout& f, int arity, int count) {
  std::vector<Row> rows;
  for (uint64_t a : edges(f))
    for (uint64_t b : edges(f)) {
      if (arity == 2) rows.push_back({a, b});
      for (size_t k = 0; arity == 3 && k < edges(f).size(); k += 2)
        rows.push_back({a, b, edges(f)[k]});
    }
  std::mt19937_64 random(uint64_t(f.mantissa) * 10 + uint64_t(arity));
  for (int n = 0; n < count; ++n) {
    Row row;
    for (int k = 0; k < arity; ++k) {
      uint64_t x = random() & 0xffff;
      if (n % 3) {  // near one, and c anywhere: ties of the sum's many bits
        const uint64_t exponent =
            k == 2 ? random() % uint64_t(2 * f.bias) : uint64_t(f.bias) - 2 + random() % 4;
        x = (x & 0x8000) | exponent << f.mantissa | (x & ((1ull << f.mantissa) - 1));
        if (n % 3 == 2) x &= ~0ull << (random() % uint64_t(f.mantissa));
      }
      row.push_back(x);
    }
    rows.push_back(row);
  }
  return rows;
}

enum class Op { add, sub, mul, fma };
struct Options {
  bool ftz = false, sat = false, relu = false;
};
uint64_t reference(const Layout& f, Op op, const Options& o, Row row) {
  if (o.ftz)
    for (uint64_t& x : row)
      if (f.is_subnormal(x)) x &= 0x8000;
  const uint64_t one = uint64_t(f.bias) << f.mantissa, nan = o.sat ? 0 : 0x7fff;
  const auto finish = [&](uint64_t bits) -> uint64_t {
    if ((o.sat || o.relu) && f.negative(bits)) return 0;
    return o.sat ? std::min(bits, one) : bits;
  };
  for (uint64_t x : row)
    if (f.is_nan(x)) return nan;
  if (op == Op::sub) row[1] ^= 0x8000;
  if (op == Op::add || op == Op::sub) row = {row[0], one, row[1]};
  const bool minus = f.negative(row[0]) != f.negative(row[1]);
  const bool infinite = f.is_infinite(row[0]) || f.is_infinite(row[1]);
  if (infinite && (f.is_zero(row[0]) || f.is_zero(row[1]))) return nan;
  const uint64_t addend = op == Op::mul ? (minus ? 0x8000 : 0) : row[2];
  if (infinite && f.is_infinite(addend) && minus != f.negative(addend)) return nan;
  if (infinite) return finish((minus ? 0x8000 : 0) | f.infinity());
  if (f.is_infinite(addend)) return finish(addend);
  const Exact p = product(exact(f, row[0]), exact(f, row[1])), c = exact(f, addend);
  Exact s = sum(p, c);
  if (s.significand == 0 && p.negative != c.negative) s.negative = false;
  return finish(o.ftz ? rounded_ftz(f, s, Mode::rn) : rounded(f, s, Mode::rn));
}

// Two halves from neighbouring rows, and the same reference twice.
template <class F>
void expect_both(const std::string& base, const std::string& type, const std::vector<Row>& rows,
                 F of) {
  expect_rows(base + "." + type, rows, of);
  std::vector<Row> pairs;
  for (size_t i = 0; i + 1 < rows.size(); i += 2) {
    Row pair;
    for (size_t k = 0; k < rows[i].size(); ++k) pair.push_back(rows[i + 1][k] << 16 | rows[i][k]);
    pairs.push_back(pair);
  }
  expect_rows(base + "." + type + "x2", pairs, [&](const Row& r) {
    Row low, high;
    for (uint64_t x : r) low.push_back(x & 0xffff), high.push_back(x >> 16);
    return uint64_t(of(high)) << 16 | uint64_t(of(low));
  });
}

void check(const std::string& root, Op op, int arity) {
  for (const Format& f : kFormats) {
    const auto rows = operand_rows(f.layout, arity, 30000);
    for (int bits = 0; bits < 8; ++bits) {
      const Options o = {bool(bits & 1), bool(bits & 2), bool(bits & 4)};
      if ((o.ftz || o.sat) && !f.ftz) continue;
      if (o.relu && (op != Op::fma || o.sat)) continue;
      const std::string modifiers =
          std::string(o.ftz ? ".ftz" : "") + (o.sat ? ".sat" : "") + (o.relu ? ".relu" : "");
      const auto of = [&](const Row& r) { return reference(f.layout, op, o, r); };
      expect_both(root + ".rn" + modifiers, f.name, rows, of);
      if (op != Op::fma)
        expect_both(root + modifiers, f.name, {rows.begin(), rows.begin() + 2000}, of);
    }
  }
}
TEST(Half, Add) { check("add", Op::add, 2); }
TEST(Half, Subtract) { check("sub", Op::sub, 2); }
TEST(Half, Multiply) { check("mul", Op::mul, 2); }
TEST(Half, FusedMultiplyAdd) { check("fma", Op::fma, 3); }

// c decides a tie of a * b from far below: rounding twice would not see it.
TEST(Half, FusedRoundsOnce) {
  EXPECT_EQ(run_rows("fma.rn.f16", {{0x3c01, 0x3e00, 0x0001}})[0],
            reference(kF16, Op::fma, {}, {0x3c01, 0x3e00, 1}));
  EXPECT_EQ(run_rows("fma.rn.bf16", {{0x3f81, 0x3fc0, 0x0001}})[0],
            reference(kBf16, Op::fma, {}, {0x3f81, 0x3fc0, 1}));
  EXPECT_EQ(run_rows("fma.rn.bf16", {{0x3f81, 0x3fc0, 0x8001}})[0],
            reference(kBf16, Op::fma, {}, {0x3f81, 0x3fc0, 0x8001}));
}

// What an H200 gives for every a and for b = 1, c = 2, and with a and b exchanged: fma's result,
// but zero where the factor is the NaN that stands for what is outside a tensor.
TEST(Half, FusedOutOfBounds) {
  for (const auto& [type, one] : {std::pair<std::string, uint64_t>{"f16", 0x3c00},
                                  std::pair<std::string, uint64_t>{"bf16", 0x3f80}}) {
    std::vector<Row> rows, exchanged;
    for (uint64_t a = 0; a < 65536; ++a) {
      rows.push_back({a, one, 0x4000});
      exchanged.push_back({one, a, 0x4000});
    }
    for (const std::string relu : {"", ".relu"}) {
      const auto plain = run_rows("fma.rn" + relu + "." + type, rows);
      const auto left = run_rows("fma.rn.oob" + relu + "." + type, rows);
      const auto right = run_rows("fma.rn.oob" + relu + "." + type, exchanged);
      for (uint64_t a = 0; a < 65536; ++a) {
        const uint64_t want = (a & 0x7fff) == 0x7ff7 ? 0 : plain[a];
        ASSERT_EQ(left[a], want) << type << relu << " " << a;
        ASSERT_EQ(right[a], want) << type << relu << " " << a;
      }
    }
  }
  // The halves of a pair are independent.
  EXPECT_EQ(run_rows("fma.rn.oob.f16x2", {{0x3c007ff7, 0x3c003c00, 0x40004000}})[0], 0x42000000u);
}

TEST(Half, MinMax) {
  for (const Format& f : kFormats) {
    const Layout& l = f.layout;
    for (int bits = 0; bits < 16; ++bits) {
      const bool max = bits & 1, ftz = bits & 2, nan = bits & 4, xorsign = bits & 8;
      if (ftz && !f.ftz) continue;
      const std::string name = std::string(max ? "max" : "min") + (ftz ? ".ftz" : "") +
                               (nan ? ".NaN" : "") + (xorsign ? ".xorsign.abs" : "");
      expect_both(name, f.name, operand_rows(l, 2, 3000), [&](const Row& r) -> uint64_t {
        uint64_t a = r[0], b = r[1];
        if (ftz && l.is_subnormal(a)) a &= 0x8000;
        if (ftz && l.is_subnormal(b)) b &= 0x8000;
        const uint64_t sign = xorsign ? (a ^ b) & 0x8000 : 0;
        if (xorsign) a &= 0x7fff, b &= 0x7fff;
        if ((l.is_nan(a) && l.is_nan(b)) || (nan && (l.is_nan(a) || l.is_nan(b)))) return 0x7fff;
        if (l.is_nan(a)) return b | sign;
        if (l.is_nan(b)) return a | sign;
        const auto key = [](uint64_t x) { return x & 0x8000 ? -1 - int(x & 0x7fff) : int(x); };
        return ((max ? key(a) > key(b) : key(a) < key(b)) ? a : b) | sign;
      });
    }
  }
}

std::vector<Row> all_values() {
  std::vector<Row> rows;
  for (uint64_t x = 0; x < 0x10000; ++x) rows.push_back({x});
  return rows;
}
TEST(Half, SignAndMagnitude) {
  for (const Format& f : kFormats)
    for (const bool ftz : {false, true}) {
      if (ftz && !f.ftz) continue;
      const auto in = [&](uint64_t x) { return ftz && f.layout.is_subnormal(x) ? x & 0x8000 : x; };
      expect_both(ftz ? "abs.ftz" : "abs", f.name, all_values(),
                  [&](const Row& r) { return f.layout.is_nan(r[0]) ? 0x7fff : in(r[0]) & 0x7fff; });
      expect_both(ftz ? "neg.ftz" : "neg", f.name, all_values(),
                  [&](const Row& r) { return f.layout.is_nan(r[0]) ? 0x7fff : in(r[0]) ^ 0x8000; });
    }
}

// Within one last place of the rounded truth, which is closer than PTX asks for.
TEST(Half, Approximations) {
  for (const Format& f : kFormats) {
    const bool brain = f.name == "bf16";
    const auto value = [&](uint64_t x) {
      return brain ? brain_to_float(uint16_t(x)) : half_to_float(uint16_t(x));
    };
    const auto near = [&](const std::string& name, auto truth, const std::vector<Row>& rows) {
      const std::vector<uint64_t> results = run_rows(name, rows);
      int bad = 0;
      for (size_t i = 0; i < rows.size() && bad < 4; ++i) {
        const double want = truth(value(rows[i][0]));
        const float rounded = float(want);
        const uint64_t nearest = brain ? float_to_brain(rounded) : float_to_half(rounded);
        const bool flushed =
            brain && name[0] == 'e' && std::fabs(want) < 0x1p-126 && results[i] == 0;
        if (!flushed && std::abs(int(results[i]) - int(nearest)) > 1) {
          ++bad;
          ADD_FAILURE() << name << std::hex << " of " << rows[i][0] << " gives " << results[i]
                        << ", not " << nearest;
        }
      }
    };
    near(
        brain ? "ex2.approx.ftz.bf16" : "ex2.approx.f16", [](double x) { return std::exp2(x); },
        all_values());
    near(
        "tanh.approx." + f.name, [](double x) { return std::tanh(x); }, all_values());
  }
  EXPECT_EQ(run_rows("ex2.approx.f16x2", {{0x40003c00}})[0], 0x44004000u);
  EXPECT_EQ(run_rows("ex2.approx.ftz.bf16x2", {{0x40003f80}})[0], 0x40804000u);
  EXPECT_EQ(run_rows("tanh.approx.f16x2", {{0xfc007c00}})[0], 0xbc003c00u);
  EXPECT_EQ(run_rows("tanh.approx.bf16x2", {{0xff807f80}})[0], 0xbf803f80u);
}

TEST(Half, InlineConversions) {
  for (uint32_t x = 0; x < 0x10000; ++x) {
    const float h = half_to_float(uint16_t(x)), b = brain_to_float(uint16_t(x));
    EXPECT_EQ(float_to_half(h), kF16.is_nan(x) ? 0x7fff : x);
    EXPECT_EQ(float_to_brain(b), kBf16.is_nan(x) ? 0x7fff : x);
    if (kF16.is_nan(x) || kF16.is_infinite(x)) continue;
    const Exact e = exact(kF16, x);
    EXPECT_EQ(h,
              std::ldexp(float(uint32_t(e.significand)), e.exponent) * (e.negative ? -1.0f : 1.0f));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t bits = uint32_t(random()) & (i % 2 ? 0xffffffffu : 0xfffff000u);
    if (kF32.is_nan(bits) || kF32.is_infinite(bits)) continue;
    for (int mode = 0; mode < 4; ++mode) {
      const Exact e = exact(kF32, bits);
      EXPECT_EQ(float_to_half(std::bit_cast<float>(bits), Round(mode)),
                rounded(kF16, e, Mode(mode)))
          << bits;
      EXPECT_EQ(float_to_brain(std::bit_cast<float>(bits), Round(mode)),
                rounded(kBf16, e, Mode(mode)))
          << bits;
    }
  }
}

}  // namespace
}  // namespace ridge::vm::test
