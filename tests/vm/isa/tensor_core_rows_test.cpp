// Sums of 16 rows by 32 columns on vectors of one row agree bit for bit with those of
// tensor_core.h, in every format; and ordinary values are really summed this way.
#include "vm/isa/tensor_core_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "vm/isa/half.h"

namespace ridge::vm::tensor {
namespace {

enum class Mode { unit, spread, scattered, zeros, nothing, largest, huge, tiny, bits };
constexpr Mode kModes[] = {Mode::unit,    Mode::spread, Mode::scattered, Mode::zeros, Mode::nothing,
                           Mode::largest, Mode::huge,   Mode::tiny,      Mode::bits};

class Values {
 public:
  Values(Mode mode, uint32_t seed) : mode_(mode), random_(seed) {}

  uint32_t factor(Element e) {
    const uint32_t any = random_();
    if (mode_ == Mode::bits) return any;
    const float x = value(e == Element::bf16 || e == Element::tf32 ? 60 : 6);
    switch (e) {
      case Element::f16: return float_to_half(x);
      case Element::bf16: return float_to_brain(x);
      case Element::tf32: return bits_of(x);
      // Of any finite numbers, where the mode asks for some that are not zero.
      default: return x == 0 ? 0 : (any & 0x80) | any % (e == Element::e4m3 ? 0x7f : 0x7c);
    }
  }
  uint32_t sum() {
    const uint32_t any = random_();
    switch (mode_) {
      case Mode::bits: return any;
      case Mode::zeros: return any % 4 ? any & 0x800fffff : 0x80000000u;
      case Mode::nothing: return any % 2 ? 0x80000000u : any & 0x83ffffffu;
      case Mode::huge: return any | 0x7f000000u;
      case Mode::largest: return bits_of(std::ldexp(value(0), int(any % 4)));
      default: return bits_of(std::ldexp(value(6), int(any % 12) - 4));
    }
  }

 private:
  float value(int range) {
    const uint32_t any = random_();
    const float x = float(int32_t(random_())) * 0x1p-31f;
    const auto within = [&](int most) { return int(any % uint32_t(2 * most + 1)) - most; };
    switch (mode_) {
      case Mode::spread: return std::ldexp(x, within(5));
      case Mode::scattered: return std::ldexp(x, within(range));
      case Mode::zeros: return any % 8 ? 0 : x;
      case Mode::nothing: return 0;
      case Mode::largest: return 1.999f - std::fabs(x) * 0x1p-7f;
      case Mode::tiny: return std::ldexp(x, -range);
      default: return x;
    }
  }
  Mode mode_;
  std::mt19937 random_;
};

using Registers = uint32_t[32];

struct Operands {
  Registers a[4], b[2 * kGroupTiles], d[4 * kGroupTiles];

  Operands(Element e, bool half, Values& values) {
    const auto fill = [&](Registers& tile) {
      const int bits = bits_of(e);
      for (uint32_t& word : tile) {
        word = 0;
        for (int at = 0; at < 32; at += bits)
          word |= (values.factor(e) & (~0u >> (32 - bits))) << at;
      }
    };
    for (auto& tile : a) fill(tile);
    for (auto& tile : b) fill(tile);
    for (auto& tile : d)
      for (uint32_t& word : tile) {
        const auto narrow = [&] { return float_to_half(float_of(values.sum())); };
        word = half ? narrow() | uint32_t(narrow()) << 16 : values.sum();
      }
  }
};

// Tiles of D one after the other, as tensor_core.h has it.
void multiply_slowly(Element e, bool half, Operands& x) {
  const uint32_t bits = uint32_t(bits_of(e)), per_tile = 128 / bits;
  const auto element = [&](const Registers* tiles, uint32_t row, uint32_t k, uint32_t stride) {
    const uint32_t bit = k % per_tile * bits;
    return value_of(e, tiles[k / per_tile * stride][4 * row + bit / 32] >> bit % 32);
  };
  Rows rows;
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t k = 0; k < 2 * per_tile; ++k) {
      const Value v = element(x.a + row / 8, row % 8, k, 2);
      rows.set(row, k, v.value, v.exponent);
    }
  for (uint32_t t = 0; t < kGroupTiles; ++t) {
    Columns columns;
    for (uint32_t column = 0; column < 8; ++column)
      for (uint32_t k = 0; k < 2 * per_tile; ++k) {
        const Value v = element(x.b + 2 * t, column, k, 1);
        columns.set(column, k, v.value, v.exponent);
      }
    const uint32_t count = half ? 2 : 4;
    uint32_t* d[4] = {};
    for (uint32_t i = 0; i < count; ++i) d[i] = x.d[count * t + i];
    Sums sums;
    if (half) load_half_sums(sums, d);
    else load_sums(sums, d);
    multiply_add(rows, columns, int(2 * per_tile), sums, {.half = half, .narrow = bits == 8});
    if (half) store_half_sums(sums, d, false);
    else store_sums(sums, d);
  }
}

struct Outcome {
  uint32_t failed = ~0u;  // as multiply_group says
  int different = 0;
};
Outcome compare(Element e, bool half, Mode mode, uint32_t seed) {
  Values values(mode, seed);
  Operands x(e, half, values);
  const Operands before = x;
  RowFactors a;
  ColumnFactors b;
  const uint32_t* tiles[] = {x.a[0], x.a[1], x.a[2], x.a[3]};
  if (!load_factors(a, e, tiles) || !load_factors(b, e, x.b[0], kGroupTiles)) return {};
  GroupProduct product{e, half, kGroupTiles, {}, {}};
  for (uint32_t i = 0; i < std::size(product.d); ++i) product.c[i] = product.d[i] = x.d[i];
  Outcome outcome{multiply_group(a, b, product)};
  Operands slow = before;
  multiply_slowly(e, half, slow);
  const uint32_t count = half ? 2 : 4;
  for (uint32_t i = 0; i < count * kGroupTiles; ++i)
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const bool left = outcome.failed >> (8 * (i / count) + lane / 4) & 1;
      outcome.different += x.d[i][lane] != (left ? before : slow).d[i][lane];
    }
  return outcome;
}

TEST(TensorCoreRows, AgreeWithTheSlowWay) {
  uint32_t seed = 1;
  for (const Element e : {Element::f16, Element::bf16, Element::tf32, Element::e4m3, Element::e5m2})
    for (const bool half : {false, true})
      for (const Mode mode : kModes)
        for (int round = 0; round < 40; ++round, ++seed) {
          if (half && (e == Element::bf16 || e == Element::tf32)) continue;  // there is none
          ASSERT_EQ(compare(e, half, mode, seed).different, 0)
              << "format " << int(e) << (half ? ", f16" : ", f32") << ", mode " << int(mode)
              << ", seed " << seed;
        }
}

// Slow ways must not hide that the fast one is never taken.
TEST(TensorCoreRows, OrdinaryValuesAreNotLeftOut) {
  if (compare(Element::f16, false, Mode::unit, 1).failed == ~0u)
    GTEST_SKIP() << "built for CPUs without AVX2";
  for (const Element e : {Element::f16, Element::bf16, Element::tf32, Element::e4m3, Element::e5m2})
    for (const Mode mode : {Mode::unit, Mode::spread, Mode::zeros, Mode::nothing})
      for (uint32_t seed = 1; seed <= 40; ++seed)
        EXPECT_EQ(compare(e, false, mode, seed).failed, 0u)
            << "format " << int(e) << ", mode " << int(mode) << ", seed " << seed;
}

}  // namespace
}  // namespace ridge::vm::tensor
