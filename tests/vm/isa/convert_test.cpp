// cvt in all its forms: integers against wide integer arithmetic, floats against exact rounding,
// the narrow formats by search over all their values.
#include <cmath>
#include <random>

#include "exact.h"
#include "run_one.h"

namespace ridge::vm::test {
namespace {

struct IntegerType {
  std::string name;
  int bits;
  bool is_signed;
  __int128 lowest() const { return is_signed ? -(__int128(1) << (bits - 1)) : 0; }
  __int128 highest() const { return (__int128(1) << (bits - is_signed)) - 1; }
  // The number a register holds, whose upper bits a narrower type does not look at.
  __int128 value(uint64_t x) const {
    if (bits < 64) x &= (1ull << bits) - 1;
    if (!is_signed || !(x >> (bits - 1) & 1)) return x;
    return __int128(x) - (__int128(1) << bits);
  }
  // What a register holds for it: 8-bit types are extended to 16.
  uint64_t stored(__int128 v) const {
    const int width = std::max(bits, 16);
    const uint64_t cut = uint64_t(value(uint64_t(v)));
    return width == 64 ? cut : cut & ((1ull << width) - 1);
  }
};
const IntegerType kIntegers[] = {{"u8", 8, false},   {"u16", 16, false}, {"u32", 32, false},
                                 {"u64", 64, false}, {"s8", 8, true},    {"s16", 16, true},
                                 {"s32", 32, true},  {"s64", 64, true}};
struct FloatType {
  std::string name;
  Layout layout;
};
const FloatType kFloats[] = {{"f16", kF16}, {"bf16", kBf16}, {"f32", kF32}, {"f64", kF64}};
constexpr const char* kModes[] = {"rn", "rz", "rm", "rp"};

std::vector<Row> integer_rows(const IntegerType& t) {
  const int width = std::max(t.bits, 16);
  const uint64_t all = width == 64 ? ~0ull : (1ull << width) - 1;
  std::vector<Row> rows;
  for (int s = 0; s < width; ++s)
    for (uint64_t d :
         {0ull, 1ull, ~0ull, 1ull << (s > 12 ? s - 11 : 0), 1ull << (s > 24 ? s - 24 : 0)})
      for (uint64_t x : {(1ull << s) + d, ~((1ull << s) + d)}) rows.push_back({x & all});
  std::mt19937_64 random(uint64_t(t.bits));
  for (int i = 0; i < 600; ++i)
    rows.push_back({(random() >> (random() % uint64_t(width)) >> (64 - width)) & all});
  return rows;
}
std::vector<Row> float_rows_of(const Layout& f) {
  std::vector<Row> rows;
  if (f.bits == 16) {
    for (uint64_t x = 0; x < 0x10000; ++x) rows.push_back({x});
    return rows;
  }
  std::mt19937_64 random(uint64_t(f.bits));
  const uint64_t fraction = (1ull << f.mantissa) - 1;
  for (uint64_t e = 0; e < uint64_t(2 * f.bias + 2); ++e) {
    const bool close = std::abs(int(e) - f.bias) < 170;
    for (int k = 0; k < (close ? 12 : 1); ++k) {
      uint64_t m = random() & fraction;
      if (k % 4 == 0) m = k == 0 ? 0 : fraction;
      if (k % 4 == 1) m &= fraction << (random() % uint64_t(f.mantissa));
      if (k % 4 == 2) m |= (1ull << (random() % uint64_t(f.mantissa))) - 1;
      rows.push_back({(random() & 1 ? f.sign() : 0) | e << f.mantissa | m});
    }
  }
  return rows;
}

TEST(Convert, IntegerToInteger) {
  for (const IntegerType& to : kIntegers)
    for (const IntegerType& from : kIntegers) {
      const auto rows = integer_rows(from);
      expect_rows("cvt." + to.name + "." + from.name, rows,
                  [&](const Row& r) { return to.stored(from.value(r[0])); });
      std::string error;
      const std::string saturating = "cvt.sat." + to.name + "." + from.name;
      const bool needed = from.lowest() < to.lowest() || from.highest() > to.highest();
      EXPECT_EQ(find_instruction(saturating, &error) != nullptr, needed) << saturating;
      if (!needed) continue;
      expect_rows(saturating, rows, [&](const Row& r) {
        return to.stored(std::min(std::max(from.value(r[0]), to.lowest()), to.highest()));
      });
    }
}

TEST(Convert, IntegerToFloat) {
  for (const FloatType& to : kFloats)
    for (const IntegerType& from : kIntegers) {
      if (to.name == "bf16" && from.bits == 8) continue;
      const auto rows = integer_rows(from);
      for (int mode = 0; mode < 4; ++mode) {
        const std::string name = std::string("cvt.") + kModes[mode];
        expect_rows(name + "." + to.name + "." + from.name, rows, [&](const Row& r) {
          const __int128 v = from.value(r[0]);
          return rounded(to.layout, {v < 0, Wide128(v < 0 ? -v : v), 0, false}, Mode(mode));
        });
        if (to.name == "bf16") continue;
        expect_rows(
            name + ".sat." + to.name + "." + from.name, rows, [&](const Row& r) -> uint64_t {
              return from.value(r[0]) > 0 ? uint64_t(to.layout.bias) << to.layout.mantissa : 0;
            });
      }
    }
}

// Rounds to an integer by looking at the bits below the point.
__int128 whole(const Exact& x, Mode mode, bool* huge) {
  *huge = x.exponent > 64;
  if (*huge) return 0;
  if (x.exponent >= 0) return __int128(x.significand << x.exponent) * (x.negative ? -1 : 1);
  const int drop = -x.exponent;
  const Wide128 kept = drop < 128 ? x.significand >> drop : 0;
  const Wide128 rest = drop < 128 ? x.significand - (kept << drop) : x.significand;
  const Wide128 half = drop < 128 ? Wide128(1) << (drop - 1) : 0;
  const bool up = mode == Mode::rn   ? half && (rest > half || (rest == half && (kept & 1)))
                  : mode == Mode::rz ? false
                                     : rest != 0 && x.negative == (mode == Mode::rm);
  return __int128(kept + up) * (x.negative ? -1 : 1);
}

TEST(Convert, FloatToInteger) {
  for (const FloatType& from : kFloats)
    for (const IntegerType& to : kIntegers) {
      if (from.name == "bf16" && to.bits == 8) continue;
      const auto rows = float_rows_of(from.layout);
      for (int mode = 0; mode < 4; ++mode)
        for (const std::string modifier : {"", ".ftz", ".sat", ".ftz.sat"}) {
          if (from.name == "bf16" && !modifier.empty()) continue;
          const bool ftz = modifier.find("ftz") != std::string::npos;
          if (from.name != "f32" && ftz) continue;
          expect_rows(
              std::string("cvt.") + kModes[mode] + "i" + modifier + "." + to.name + "." + from.name,
              rows, [&](const Row& r) -> uint64_t {
                const Layout& f = from.layout;
                // NaN: 0, but the sign bit alone where 64 bits take part.
                if (f.is_nan(r[0]))
                  return to.bits == 64 || f.bits == 64 ? to.stored(__int128(1) << (to.bits - 1))
                                                       : 0;
                if (f.is_infinite(r[0]))
                  return to.stored(f.negative(r[0]) ? to.lowest() : to.highest());
                const uint64_t x = ftz && f.is_subnormal(r[0]) ? 0 : r[0];
                bool huge = false;
                const __int128 v = whole(exact(f, x), Mode(mode), &huge);
                if (huge) return to.stored(f.negative(x) ? to.lowest() : to.highest());
                return to.stored(std::min(std::max(v, to.lowest()), to.highest()));
              });
        }
    }
}

uint64_t infinity_or(const Layout& to, bool negative) {
  return (negative ? to.sign() : 0) | to.infinity();
}

TEST(Convert, FloatToFloat) {
  for (const FloatType& from : kFloats)
    for (const FloatType& to : kFloats) {
      if (from.name == to.name) continue;
      const auto rows = float_rows_of(from.layout);
      for (int mode = 0; mode < 4; ++mode)
        for (const std::string modifier : {"", ".ftz", ".sat", ".ftz.sat"}) {
          const bool ftz = modifier.find("ftz") != std::string::npos,
                     sat = modifier.find("sat") != std::string::npos;
          const bool widens = to.layout.bits > from.layout.bits;
          const std::string name = std::string("cvt") +
                                   (widens ? "" : std::string(".") + kModes[mode]) + modifier +
                                   "." + to.name + "." + from.name;
          std::string error;
          if ((widens && mode) || !find_instruction(name, &error)) continue;
          std::vector<Row> finite;
          for (const Row& r : rows)
            if (!from.layout.is_nan(r[0])) finite.push_back(r);
          expect_rows(name, finite, [&](const Row& r) -> uint64_t {
            const Layout &f = from.layout, &t = to.layout;
            uint64_t x = r[0];
            const uint64_t one = uint64_t(t.bias) << t.mantissa;
            if (ftz && f.bits == 32 && to.name != "f16" && f.is_subnormal(x)) x &= f.sign();
            uint64_t y = infinity_or(t, f.negative(x));
            if (!f.is_infinite(x))
              y = ftz && t.bits == 32 ? rounded_ftz(t, exact(f, x), Mode(mode))
                                      : rounded(t, exact(f, x), Mode(mode));
            return sat ? (t.negative(y) ? 0 : std::min(y, one)) : y;
          });
        }
    }
}

TEST(Convert, FloatToWholeFloat) {
  for (const FloatType& t : kFloats)
    for (int mode = 0; mode < 4; ++mode) {
      std::vector<Row> finite;
      for (const Row& r : float_rows_of(t.layout))
        if (!t.layout.is_nan(r[0])) finite.push_back(r);
      expect_rows(std::string("cvt.") + kModes[mode] + "i." + t.name + "." + t.name, finite,
                  [&](const Row& r) {
                    const Layout& f = t.layout;
                    if (f.is_infinite(r[0])) return r[0];
                    const Exact x = exact(f, r[0]);
                    if (x.exponent >= 0) return r[0];
                    bool huge = false;
                    const __int128 v = whole(x, Mode(mode), &huge);
                    return rounded(f, {x.negative, Wide128(v < 0 ? -v : v), 0, false}, Mode::rn);
                  });
    }
  EXPECT_EQ(run_rows("cvt.rpi.ftz.f32.f32", {{0x00000001}})[0], 0u);
  EXPECT_EQ(run_rows("cvt.rpi.f32.f32", {{0x00000001}})[0], 0x3f800000u);
  EXPECT_EQ(run_rows("cvt.sat.f32.f32", {{0x7fc00000}})[0], 0u);
  EXPECT_EQ(run_rows("cvt.rmi.sat.f32.f32", {{0x40200000}})[0], 0x3f800000u);
}

TEST(Convert, NaNs) {  // as the hardware gives them
  const auto expect = [](const char* name, uint64_t x, uint64_t want) {
    EXPECT_EQ(run_rows(name, {{x}})[0], want) << name << std::hex << " of " << x;
  };
  expect("cvt.f32.f32", 0xff812345, 0xff812345);
  expect("cvt.ftz.f32.f32", 0xff812345, 0x7fffffff);
  expect("cvt.rni.f32.f32", 0xff812345, 0x7fffffff);
  expect("cvt.f32.bf16", 0xff81, 0xff810000);
  expect("cvt.ftz.f32.bf16", 0xff81, 0x7fffffff);
  expect("cvt.f32.f16", 0xfd01, 0x7fffffff);
  expect("cvt.f64.f16", 0xfd01, 0xfffc040000000000);
  expect("cvt.f64.f32", 0x7f800001, 0x7ff8000020000000);
  expect("cvt.ftz.f64.f32", 0x7f800001, 0x7fffffffe0000000);
  expect("cvt.f64.f64", 0x7ff0000000000001, 0x7ff0000000000001);
  expect("cvt.rni.f64.f64", 0x7ff0000000000001, 0x7ff8000000000001);
  expect("cvt.rn.f32.f64", 0xfff0000087654321, 0xffc00004);
  expect("cvt.rz.f16.f64", 0xfff8abcd00000001, 0xfe2a);
  expect("cvt.rn.f16.f32", 0xffc00000, 0x7fff);
  expect("cvt.rn.bf16.f32", 0x7f800001, 0x7fff);
  expect("cvt.f16.f16", 0xfd01, 0x7fff);
}

// --- tensor-core formats ---

// e4m3 and e5m2 by their definition.
double value_of(const std::string& type, uint32_t code) {
  const int m = type[3] == '3' ? 3 : 2, bias = m == 3 ? 7 : 15;
  const int e = int(code & 0x7f) >> m, f = int(code) & ((1 << m) - 1);
  if (m == 3 && (code & 0x7f) == 0x7f) return NAN;
  if (m == 2 && e == 31) return f ? NAN : INFINITY * (code & 0x80 ? -1 : 1);
  const double magnitude = e ? std::ldexp(1.0 + double(f) / (1 << m), e - bias)
                             : std::ldexp(double(f) / (1 << m), 1 - bias);
  return code & 0x80 ? -magnitude : magnitude;
}
// The nearest finite value's code, ties to the even one, by looking at all of them.
uint32_t nearest_code(const std::string& type, double x, bool relu) {
  if (std::isnan(x)) return 0x7f;
  if (relu && x <= 0) return 0;
  uint32_t best = 0;
  double distance = INFINITY;
  for (uint32_t code = 0; code < 0x80; ++code) {
    const double v = value_of(type, code),
                 d = std::fabs(v - std::fabs(std::min(std::max(x, -1e9), 1e9)));
    if (!std::isfinite(v)) continue;
    if (d < distance || (d == distance && code % 2 == 0)) best = code, distance = d;
  }
  return best | (std::signbit(x) ? 0x80 : 0);
}
TEST(ConvertNarrow, EightBitFloats) {
  std::mt19937 random(8);
  std::vector<Row> rows;
  for (int i = 0; i < 4000; ++i) {
    Row row;
    for (int k = 0; k < 2; ++k) {
      uint32_t bits = uint32_t(random());
      if (i % 8) bits = (bits & 0x807fffff) | (127 - 20 + uint32_t(random()) % 40) << 23;
      if (i % 3 == 0) bits &= 0xfff80000;
      row.push_back(bits);
    }
    rows.push_back(row);
  }
  for (uint64_t x :
       {0ull, 0x80000000ull, 0x7f800000ull, 0xff800000ull, 0x7fc00000ull, 0xffc00000ull,
        0x43e00000ull, 0x43e80000ull, 0x47600000ull, 0x7f7fffffull, 1ull})
    rows.push_back({x, x ^ 0x80000000});
  const auto value = [](uint64_t bits) { return double(std::bit_cast<float>(uint32_t(bits))); };
  for (const std::string type : {"e4m3", "e5m2"})
    for (const bool relu : {false, true}) {
      const std::string name =
          std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + type + "x2";
      expect_rows(name + ".f32", rows, [&](const Row& r) {
        return uint64_t(nearest_code(type, value(r[0]), relu)) << 8 |
               nearest_code(type, value(r[1]), relu);
      });
      // Through f16: all its values, which convert to f32 exactly.
      std::vector<Row> halves;
      for (uint64_t x = 0; x < 0x10000; x += 3)
        halves.push_back({x << 16 | ((x * 77 + 5) & 0xffff)});
      expect_rows(name + ".f16x2", halves, [&](const Row& r) {
        const auto half = [](uint64_t h) -> double {
          if (kF16.is_nan(h)) return NAN;
          if (kF16.is_infinite(h)) return h & 0x8000 ? -INFINITY : INFINITY;
          const Exact e = exact(kF16, h);
          return std::ldexp(double(uint64_t(e.significand)), e.exponent) * (e.negative ? -1 : 1);
        };
        return uint64_t(nearest_code(type, half(r[0] >> 16), relu)) << 8 |
               nearest_code(type, half(r[0] & 0xffff), relu);
      });
      std::vector<Row> codes;
      for (uint64_t x = 0; x < 256; ++x) codes.push_back({x << 8 | ((x * 91 + 7) & 0xff)});
      expect_rows(std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + type + "x2", codes,
                  [&](const Row& r) {
                    const auto half = [&](uint32_t code) -> uint64_t {
                      const double v = value_of(type, code);
                      if (std::isnan(v)) return 0x7fff;
                      if (relu && code & 0x80) return 0;
                      if (std::isinf(v)) return v < 0 ? 0xfc00 : 0x7c00;
                      const uint64_t bits =
                          rounded(kF16, exact(kF64, std::bit_cast<uint64_t>(v)), Mode::rn);
                      return bits;
                    };
                    return half(uint32_t(r[0] >> 8)) << 16 | half(uint32_t(r[0] & 0xff));
                  });
    }
}

TEST(ConvertNarrow, HalvesWithReluAndSaturation) {
  std::vector<Row> rows;
  for (const Row& r : float_rows_of(kF32))
    rows.push_back({r[0], (r[0] * 0x9e3779b1u) & 0xffffffff});
  for (const FloatType& to : {kFloats[0], kFloats[1]})
    for (int mode = 0; mode < 2; ++mode)
      for (int bits = 0; bits < 4; ++bits) {
        const bool satfinite = bits & 1, relu = bits & 2;
        const auto one = [&](uint64_t x) -> uint64_t {
          if (kF32.is_nan(x)) return 0x7fff;
          if (relu && kF32.negative(x)) return 0;
          const uint64_t y = kF32.is_infinite(x) ? infinity_or(to.layout, kF32.negative(x))
                                                 : rounded(to.layout, exact(kF32, x), Mode(mode));
          return satfinite && to.layout.is_infinite(y) ? y - 1 : y;
        };
        const std::string name = std::string("cvt.") + kModes[mode] +
                                 (satfinite ? ".satfinite" : "") + (relu ? ".relu" : "");
        expect_rows(name + "." + to.name + "x2.f32", rows,
                    [&](const Row& r) { return one(r[0]) << 16 | one(r[1]); });
        if (bits) {
          std::vector<Row> single;
          for (const Row& r : rows) single.push_back({r[0]});
          expect_rows(name + "." + to.name + ".f32", single,
                      [&](const Row& r) { return one(r[0]); });
        }
      }
}

TEST(ConvertNarrow, Tf32) {
  const auto rows = float_rows_of(kF32);
  constexpr Layout kTf32 = {10, 127, 19};
  for (int mode = 0; mode < 2; ++mode)
    for (const bool relu : {false, true})
      expect_rows(std::string("cvt.") + kModes[mode] + (relu ? ".relu" : "") + ".tf32.f32", rows,
                  [&](const Row& r) -> uint64_t {
                    if (kF32.is_nan(r[0])) return 0x7fffe000;
                    if (relu && kF32.negative(r[0])) return 0;
                    if (kF32.is_infinite(r[0])) return r[0];
                    return rounded(kTf32, exact(kF32, r[0]), Mode(mode)) << 13;
                  });
  // Ties away from zero; a NaN is cut.
  for (const auto& [x, want] : std::vector<std::pair<uint64_t, uint64_t>>{{0x3f801000, 0x3f802000},
                                                                          {0xbf800fff, 0xbf800000},
                                                                          {0x7f7fffff, 0x7f800000},
                                                                          {0x7fffffff, 0x7fffe000},
                                                                          {0x80001000, 0x80002000}})
    EXPECT_EQ(run_rows("cvt.rna.tf32.f32", {{x}})[0], want);
  EXPECT_EQ(run_rows("cvt.rna.satfinite.tf32.f32", {{0x7f7fffff}})[0], 0x7f7fe000u);
  EXPECT_EQ(run_rows("cvt.rna.satfinite.tf32.f32", {{0xff800000}})[0], 0xff7fe000u);
}

TEST(ConvertNarrow, Pack) {
  std::mt19937_64 random(5);
  std::vector<Row> two, three;
  for (int i = 0; i < 2000; ++i) {
    const uint32_t a = uint32_t(int32_t(random()) >> (random() % 32)),
                   b = uint32_t(int32_t(random()) >> (random() % 32));
    two.push_back({a, b});
    three.push_back({a, b, random() & 0xffffffff});
  }
  for (const int bits : {16, 8, 4, 2})
    for (const bool is_signed : {false, true}) {
      const int64_t low = is_signed ? -(1 << (bits - 1)) : 0, high = (1 << (bits - is_signed)) - 1;
      const auto clamped = [&](uint64_t x) {
        return uint64_t(std::min(std::max(int64_t(int32_t(x)), low), high)) & ((1u << bits) - 1);
      };
      const std::string name =
          std::string("cvt.pack.sat.") + (is_signed ? "s" : "u") + std::to_string(bits) + ".s32";
      if (bits == 16)
        expect_rows(name, two, [&](const Row& r) { return clamped(r[0]) << 16 | clamped(r[1]); });
      else
        expect_rows(name + ".b32", three, [&](const Row& r) {
          return uint64_t(uint32_t(r[2] << (2 * bits) | clamped(r[0]) << bits | clamped(r[1])));
        });
    }
}

// Every spelling the tables can make is found again as itself.
TEST(Convert, RowsExpandToThemselves) {
  for (const Group& group : groups())
    for (const InstrDef& row : group.rows)
      if (row.spelling.substr(0, 3) == "cvt" && row.spelling[3] != 'a') {
        EXPECT_FALSE(expand(row).empty()) << row.spelling;
      }
}

}  // namespace
}  // namespace ridge::vm::test
