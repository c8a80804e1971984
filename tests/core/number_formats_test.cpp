// Every bit pattern of every format of up to 16 bits, and every number at which rounding changes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "boundaries.h"
#include "core/number.h"
#include "core/number_line.h"

namespace ridge {
namespace {

std::vector<Dtype> small_formats() {
  std::vector<Dtype> formats;
  for (const NumberFormat& f : kNumberFormats)
    if (f.bits <= 16) formats.push_back(f.dtype);
  return formats;
}
uint64_t patterns(Dtype dtype) { return uint64_t(1) << bits_of(dtype); }

// The finite numbers of a format and the patterns that mean them, sorted: rounding by looking, as
// an independent truth for the arithmetic in number.cpp.
class Line {
 public:
  explicit Line(Dtype dtype) : format_(format_of(dtype)) {
    for (uint64_t bits = 0; bits < patterns(dtype); ++bits) {
      const double value = decode(dtype, bits);
      if (!std::isfinite(value)) continue;
      if (value == 0 && std::signbit(value)) continue;
      if (dtype == Dtype::ue4m3 && bits > 0x7f) continue;
      at_[value] = bits;
    }
  }
  double lowest() const { return at_.begin()->first; }
  double highest() const { return at_.rbegin()->first; }

  // Saturating; `x` is finite.
  double nearest(double x) const {
    if (x <= lowest()) return lowest();
    if (x >= highest()) return highest();
    const auto above = at_.lower_bound(x);
    if (above->first == x) return x;
    const auto below = std::prev(above);
    // Both are exact: the format's numbers have few bits, and x lies between them.
    const double from_below = x - below->first, to_above = above->first - x;
    if (from_below != to_above) return from_below < to_above ? below->first : above->first;
    if (format_.kind == NumberKind::table) return below->first;
    if (format_.dtype == Dtype::ue8m0) return above->first;
    return below->second % 2 == 0 ? below->first : above->first;
  }
  double cut(double x) const { return x >= 0 ? below(x) : above(x); }
  double below(double x) const {
    const auto next = at_.upper_bound(x);
    return next == at_.begin() ? next->first : std::prev(next)->first;
  }
  double above(double x) const {
    const auto next = at_.lower_bound(x);
    return next == at_.end() ? highest() : next->first;
  }

 private:
  const NumberFormat& format_;
  std::map<double, uint64_t> at_;
};

TEST(NumberFormats, EveryPatternSurvives) {
  for (const Dtype dtype : small_formats())
    for (uint64_t bits = 0; bits < patterns(dtype); ++bits) {
      const double value = decode(dtype, bits);
      // The sign bit of ue4m3 means nothing.
      const uint64_t expected = dtype == Dtype::ue4m3 ? bits & 0x7f : bits;
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(decode(dtype, encode(dtype, value)))) << name_of(dtype) << bits;
      } else if (std::isinf(value)) {
        ASSERT_EQ(encode(dtype, value, {.overflow = Overflow::to_infinity}), expected);
      } else {
        for (const Rounding rounding :
             {Rounding::nearest_even, Rounding::toward_zero, Rounding::up})
          ASSERT_EQ(encode(dtype, value, {.rounding = rounding}), expected)
              << name_of(dtype) << " " << bits;
      }
    }
}

TEST(NumberFormats, NeighboursAreInOrderAndReachEveryNumber) {
  for (const Dtype dtype : small_formats()) {
    const std::vector<double> values = all_values(dtype);
    uint64_t at = encode(dtype, values.front());
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      ASSERT_EQ(decode(dtype, at), values[i]) << name_of(dtype);
      const auto next = next_above(dtype, at);
      ASSERT_TRUE(next) << name_of(dtype) << " " << at;
      const auto back = next_below(dtype, *next);
      ASSERT_TRUE(back);
      ASSERT_EQ(decode(dtype, *back), values[i]) << name_of(dtype) << " " << at;
      at = *next;
    }
    ASSERT_EQ(decode(dtype, at), values.back());
    ASSERT_EQ(largest(dtype), values.back());
    const auto past = next_above(dtype, at);
    if (format_of(dtype).specials == Specials::ieee) {
      ASSERT_TRUE(past && class_of(dtype, *past) == NumberClass::infinite) << name_of(dtype);
      ASSERT_FALSE(next_above(dtype, *past));
    } else {
      ASSERT_FALSE(past) << name_of(dtype);
    }
  }
}

TEST(NumberFormats, RoundsToTheNearestAtEveryBoundary) {
  for (const Dtype dtype : small_formats()) {
    if (!format_of(dtype).is_quantised && !is_floating(dtype)) continue;  // u8 is cut off
    const Line line(dtype);
    const auto check = [&](double x) {
      if (!std::isfinite(x)) return;
      const bool takes_magnitude = is_floating(dtype) && !format_of(dtype).is_signed;
      const double expected = line.nearest(takes_magnitude ? std::fabs(x) : x);
      ASSERT_EQ(rounded(dtype, x, {.overflow = Overflow::saturate}), expected)
          << name_of(dtype) << " " << x;
    };
    for (const double x : boundaries<double>(dtype)) check(x);
    for (const float x : boundaries<float>(dtype)) check(double(x));
  }
}

TEST(NumberFormats, RoundsTowardZeroAndUpAtEveryBoundary) {
  for (const Dtype dtype : small_formats()) {
    if (!is_floating(dtype)) continue;
    const Line line(dtype);
    for (const double x : boundaries<double>(dtype)) {
      if (!std::isfinite(x)) continue;
      const double from = format_of(dtype).is_signed ? x : std::fabs(x);
      ASSERT_EQ(rounded(dtype, x, {Rounding::toward_zero, Overflow::saturate}), line.cut(from))
          << name_of(dtype) << " " << x;
      ASSERT_EQ(rounded(dtype, x, {Rounding::up, Overflow::saturate}), line.above(from))
          << name_of(dtype) << " " << x;
    }
  }
}

// Halfway from the largest number to the one that would come next, rounding goes past the largest.
TEST(NumberFormats, OverflowsWhereTheNextNumberWouldBeNearer) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Dtype dtype : small_formats()) {
    const NumberFormat& f = format_of(dtype);
    if (f.kind != NumberKind::floating) continue;
    const double most = largest(dtype);
    const double step = most - decode(dtype, *next_below(dtype, encode(dtype, most)));
    // In ue8m0 the next power of two is twice as far away as the one before.
    const double border = most + (dtype == Dtype::ue8m0 ? step : step / 2);
    const bool tie_stays = encode(dtype, most) % 2 == 0 && dtype != Dtype::ue8m0;
    const double stays = tie_stays ? border : std::nextafter(border, 0);
    const double goes = std::nextafter(stays, infinity);
    const Conversion open = {.overflow = Overflow::to_infinity};
    const Conversion closed = {.overflow = Overflow::saturate};
    EXPECT_EQ(rounded(dtype, stays, open), most) << f.name;
    EXPECT_EQ(rounded(dtype, goes, closed), most) << f.name;
    EXPECT_EQ(rounded(dtype, infinity, closed), most) << f.name;
    for (const double x : {goes, 1e300, infinity}) {
      const double got = rounded(dtype, x, open);
      switch (f.specials) {
        case Specials::none: EXPECT_EQ(got, most) << f.name; break;
        case Specials::nan: EXPECT_TRUE(std::isnan(got)) << f.name << " " << x; break;
        case Specials::ieee: EXPECT_EQ(got, infinity) << f.name << " " << x; break;
      }
      EXPECT_EQ(rounded(dtype, x), f.is_quantised ? most : infinity) << f.name;
      if (f.is_signed) {
        EXPECT_EQ(encode(dtype, -x, open), encode(dtype, x, open) | 1u << (f.bits - 1)) << f.name;
        EXPECT_EQ(rounded(dtype, -x, closed), -most) << f.name;
      }
    }
    // Cut off, a finite number stays finite, as IEEE 754 has it.
    EXPECT_EQ(rounded(dtype, 1e300, {Rounding::toward_zero, Overflow::to_infinity}), most)
        << f.name;
  }
}

TEST(NumberFormats, NanHasOnePatternAndNoSign) {
  for (const double nan : {double(NAN), -double(NAN)}) {
    EXPECT_EQ(encode(Dtype::f16, nan), 0x7fffu);
    EXPECT_EQ(encode(Dtype::e4m3, nan), 0x7fu);
    EXPECT_EQ(encode(Dtype::e5m2, nan), 0x7fu);
    EXPECT_EQ(encode(Dtype::ue8m0, nan), 0xffu);
    EXPECT_EQ(encode(Dtype::ue4m3, nan), 0x7fu);
    EXPECT_EQ(encode(Dtype::e2m1, nan), 7u);  // the largest, as cvt has it
    EXPECT_EQ(encode(Dtype::e2m3, nan), 0x1fu);
    EXPECT_EQ(encode(Dtype::e3m2, nan), 0x1fu);
    EXPECT_EQ(encode(Dtype::nf4, nan), 0u);
    for (const Dtype dtype : {Dtype::i8, Dtype::i4, Dtype::u4, Dtype::i32, Dtype::u8})
      EXPECT_EQ(encode(dtype, nan), 0u);
  }
}

struct Known {
  Dtype dtype;
  double largest, smallest_normal, smallest, unit_roundoff;
};
// From the specifications: IEEE 754, OCP OFP8 1.0 and MX 1.0, and QLoRA for nf4.
TEST(NumberFormats, HasTheLimitsOfItsSpecification) {
  const Known known[] = {
      {Dtype::f64, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074, 0x1p-53},
      {Dtype::f32, 0x1.fffffep127, 0x1p-126, 0x1p-149, 0x1p-24},
      {Dtype::f16, 65504, 0x1p-14, 0x1p-24, 0x1p-11},
      {Dtype::bf16, 0x1.fep127, 0x1p-126, 0x1p-133, 0x1p-8},
      {Dtype::e4m3, 448, 0x1p-6, 0x1p-9, 0x1p-4},
      {Dtype::e5m2, 57344, 0x1p-14, 0x1p-16, 0x1p-3},
      {Dtype::e2m1, 6, 1, 0.5, 0x1p-2},
      {Dtype::e2m3, 7.5, 1, 0.125, 0x1p-4},
      {Dtype::e3m2, 28, 0.25, 0.0625, 0x1p-3},
      {Dtype::ue8m0, 0x1p127, 0x1p-127, 0x1p-127, 0x1p-1},
      {Dtype::ue4m3, 448, 0x1p-6, 0x1p-9, 0x1p-4},
      {Dtype::i8, 127, 0, 0, 0},
      {Dtype::i4, 7, 0, 0, 0},
      {Dtype::u4, 15, 0, 0, 0},
      {Dtype::u8, 255, 0, 0, 0},
      {Dtype::i32, 2147483647, 0, 0, 0},
  };
  for (const Known& k : known) {
    EXPECT_EQ(largest(k.dtype), k.largest) << name_of(k.dtype);
    EXPECT_EQ(smallest_normal(k.dtype), k.smallest_normal) << name_of(k.dtype);
    EXPECT_EQ(smallest(k.dtype), k.smallest) << name_of(k.dtype);
    EXPECT_EQ(unit_roundoff(k.dtype), k.unit_roundoff) << name_of(k.dtype);
  }
  EXPECT_EQ(largest(Dtype::nf4), 1);
  EXPECT_EQ(smallest(Dtype::nf4), 0.07958029955625534);
  EXPECT_NEAR(unit_roundoff(Dtype::nf4), (1 - 0.6961928009986877) / 2, 1e-16);
}

TEST(NumberFormats, FourBitsAreThesePatterns) {
  const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(decode(Dtype::e2m1, i), e2m1[i]);
    EXPECT_EQ(decode(Dtype::e2m1, i + 8), -e2m1[i]);
    EXPECT_EQ(decode(Dtype::i4, i), double(i));
    EXPECT_EQ(decode(Dtype::i4, i + 8), double(i) - 8);
    EXPECT_EQ(decode(Dtype::u4, i + 8), double(i) + 8);
  }
  EXPECT_EQ(encode(Dtype::i8, 2.5), 2u);  // a tie goes to even
  EXPECT_EQ(encode(Dtype::i8, -3.5), 0xfcu);
  EXPECT_EQ(encode(Dtype::i8, -1000), 0x80u);
  EXPECT_EQ(encode(Dtype::u4, -1), 0u);
  EXPECT_EQ(encode(Dtype::i32, -2.9), 0xfffffffeu);  // cut off
}

// Elements of 4 and 6 bits share bytes: a store must leave its neighbours alone.
TEST(NumberFormats, ElementsAreStoredSideBySide) {
  std::mt19937_64 random(7);
  for (const NumberFormat& f : kNumberFormats)
    for (const int64_t count : {1, 2, 3, 4, 5, 8, 37}) {
      const size_t bytes = bytes_for(f.dtype, count);
      EXPECT_EQ(bytes, (size_t(count) * size_t(f.bits) + 7) / 8);
      std::vector<unsigned char> memory(bytes + 1, 0xa5);
      std::vector<uint64_t> expected(size_t(count), 0);
      const uint64_t mask = f.bits == 64 ? ~0ull : (1ull << f.bits) - 1;
      for (int64_t i = 0; i < count; ++i)
        expected[size_t(i)] = load_bits(f.dtype, memory.data(), i);
      for (int round = 0; round < 100; ++round) {
        const auto i = int64_t(random() % uint64_t(count));
        expected[size_t(i)] = random() & mask;
        store_bits(f.dtype, memory.data(), i, expected[size_t(i)]);
        for (int64_t j = 0; j < count; ++j)
          ASSERT_EQ(load_bits(f.dtype, memory.data(), j), expected[size_t(j)])
              << f.name << " " << j;
      }
      EXPECT_EQ(memory[bytes], 0xa5) << f.name;
    }
}

TEST(NumberFormats, PackedLayoutIsAStreamOfBits) {
  unsigned char memory[3] = {};
  for (int i = 0; i < 4; ++i) store_bits(Dtype::e3m2, memory, i, uint64_t(i + 1));
  // 000100 000011 000010 000001, cut into bytes from the right
  EXPECT_EQ(memory[0], 0b10'000001);
  EXPECT_EQ(memory[1], 0b0011'0000);
  EXPECT_EQ(memory[2], 0b000100'00);
  for (int i = 0; i < 2; ++i) store_bits(Dtype::e2m1, memory, i, uint64_t(i + 1));
  EXPECT_EQ(memory[0], 0x21);  // the first element in the low nibble
  EXPECT_EQ(size_of(Dtype::e2m1), 0u);
  EXPECT_EQ(size_of(Dtype::e4m3), 1u);
}

TEST(NumberFormats, ClassesAndFields) {
  EXPECT_EQ(class_of(Dtype::f16, 0x8000), NumberClass::zero);
  EXPECT_EQ(class_of(Dtype::f16, 0x03ff), NumberClass::subnormal);
  EXPECT_EQ(class_of(Dtype::f16, 0x0400), NumberClass::normal);
  EXPECT_EQ(class_of(Dtype::f16, 0xfc00), NumberClass::infinite);
  EXPECT_EQ(class_of(Dtype::f16, 0x7c01), NumberClass::nan);
  EXPECT_EQ(class_of(Dtype::e4m3, 0x78), NumberClass::normal);  // 256: the top exponent is in use
  EXPECT_EQ(class_of(Dtype::e4m3, 0xff), NumberClass::nan);
  EXPECT_EQ(class_of(Dtype::ue8m0, 0), NumberClass::normal);
  const Fields fields = fields_of(Dtype::e5m2, 0b1'01101'10);
  EXPECT_EQ(fields.sign, 1u);
  EXPECT_EQ(fields.exponent, 0b01101u);
  EXPECT_EQ(fields.mantissa, 0b10u);
}

TEST(NumberFormats, WideFormatsHaveNeighboursToo) {
  const auto above = [](Dtype d, double x) { return decode(d, *next_above(d, encode(d, x))); };
  EXPECT_EQ(above(Dtype::f64, 1), std::nextafter(1.0, 2.0));
  EXPECT_EQ(above(Dtype::f32, 3.25), double(std::nextafter(3.25f, 4.0f)));
  EXPECT_EQ(above(Dtype::f64, -0.0), 0x1p-1074);
  EXPECT_EQ(above(Dtype::i64, -1), 0);
  EXPECT_FALSE(next_below(Dtype::i64, 1ull << 63));
  EXPECT_EQ(encode(Dtype::f64, 0.1), 0x3fb999999999999aull);
  EXPECT_EQ(encode(Dtype::f64, 0x1p-1074), 1u);
  EXPECT_EQ(encode(Dtype::f32, 0x1p-150), 0u);
  EXPECT_EQ(decode(Dtype::f32, 0x3f800000), 1);
}

TEST(NumberFormats, NamesAndAliasesReadBack) {
  for (const NumberFormat& f : kNumberFormats) EXPECT_EQ(parse_dtype(f.name), f.dtype);
  EXPECT_EQ(parse_dtype("fp8_e4m3"), Dtype::e4m3);
  EXPECT_EQ(parse_dtype("e4m3fn"), Dtype::e4m3);
  EXPECT_EQ(parse_dtype("fp8_e5m2"), Dtype::e5m2);
  EXPECT_EQ(parse_dtype("fp4"), Dtype::e2m1);
  EXPECT_EQ(parse_dtype("bfloat16"), Dtype::bf16);
  EXPECT_EQ(parse_dtype("half"), Dtype::f16);
  EXPECT_EQ(parse_dtype("float"), Dtype::f32);
  EXPECT_EQ(parse_dtype("int8"), Dtype::i8);
  EXPECT_EQ(parse_dtype("fp5"), std::nullopt);
  EXPECT_STREQ(name_of(Dtype(77)), "?");
}

}  // namespace
}  // namespace ridge
