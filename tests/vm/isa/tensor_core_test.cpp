// The ways to compute a product of f16 or bf16 agree bit for bit: vectors of four rows by four
// columns, of a pair of rows, and one element after the other. An infinity in A sends its tile the
// second way, and one in B the last way. It spoils its own row or column; the others are compared.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "run_fragments.h"
#include "vm/isa/half.h"

namespace ridge::vm::test {
namespace {

struct Shape {
  const char* spelling;
  const char* factor;
  size_t a, b, c, d;  // registers
  size_t steps;       // registers of B a tile
  bool half_c, half_d;
};
const Shape kShapes[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f16", 4, 2, 4, 4, 2, false, false},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "f16", 4, 2, 2, 2, 2, true, true},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "bf16", 4, 2, 4, 4, 2, false, false},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "f16", 2, 1, 4, 4, 1, false, false},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "f16", 2, 1, 2, 2, 1, true, true},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "bf16", 2, 1, 4, 4, 1, false, false},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "f16", 8, 8, 8, 8, 2, false, false},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32", "f16", 8, 8, 8, 4, 2, false, true},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16", "f16", 8, 8, 4, 8, 2, true, false},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.f32.f32", "f16", 8, 8, 8, 8, 2, false, false},
};

enum class Mode {
  unit,       // [-1, 1)
  positive,   // [0, 1), C as large as a sum of many
  spread,     // exponents up to 12 apart
  scattered,  // as far apart as the format has them
  zeros,      // most are zero, so that sums of nothing occur; C of any size
  shifted,    // all large or all small, to the ends of f32's exponents
  largest,    // significands of nearly 2, exponents and signs alike: sums that nearly overflow
  subnormal,  // of the factor's format
  bits,       // anything, infinities and NaNs too
  count
};

class Values {
 public:
  Values(Mode mode, uint32_t seed) : mode_(mode), random_(seed) { level_ = int(random_() % 9) - 4; }

  uint16_t factor(bool brain) {
    const uint32_t any = random_();
    const uint16_t sign = uint16_t(any & 0x8000);
    if (mode_ == Mode::bits) return uint16_t(any);
    if (mode_ == Mode::subnormal && any % 3 == 0)
      return uint16_t(sign | (any >> 16) % (brain ? 128 : 1024));
    const float x = value(brain ? 60 : 14) * (mode_ == Mode::shifted ? shift(brain) : 1);
    return brain ? float_to_brain(x) : float_to_half(x);
  }
  uint32_t sum() {
    const uint32_t any = random_();
    switch (mode_) {
      case Mode::bits: return any;
      case Mode::zeros: return any % 4 == 0 ? 0 : any % 4 == 1 ? any & 0x800fffff : any;
      case Mode::shifted: return bits_of(value(0) * shift(true) * shift(true));
      case Mode::largest: return bits_of(std::ldexp(value(0), int(any % 4) + level_));
      case Mode::subnormal: return bits_of(std::ldexp(value(0), -int(any % 50)));
      case Mode::positive: return bits_of(64 * value(0));
      default: return bits_of(std::ldexp(value(12), int(any % 12) - 6));
    }
  }

 private:
  float shift(bool brain) const { return std::ldexp(1.0f, brain ? 17 * level_ : 3 * level_); }
  float value(int range) {
    const uint32_t any = random_();
    const float x = float(int32_t(random_())) * 0x1p-31f;
    const auto within = [&](int most) { return int(any % uint32_t(2 * most + 1)) - most; };
    switch (mode_) {
      case Mode::positive: return std::fabs(x);
      case Mode::spread: return std::ldexp(x, within(6));
      case Mode::scattered: return std::ldexp(x, within(range));
      case Mode::zeros: return any % 8 ? 0 : std::ldexp(x, within(range / 2));
      case Mode::largest: return std::ldexp(1.999f - std::fabs(x) * 0x1p-7f, level_);
      default: return x;
    }
  }
  Mode mode_;
  std::mt19937 random_;
  int level_;
};

Registers halves(size_t count, bool brain, Values& values) {
  Registers r(count, false);
  for (size_t i = 0; i < count; ++i)
    for (uint64_t& word : r[i]) word = values.factor(brain) | uint32_t(values.factor(brain)) << 16;
  return r;
}
Registers sums(size_t count, bool half, Values& values) {
  Registers r(count, false);
  for (size_t i = 0; i < count; ++i)
    for (uint64_t& word : r[i])
      word = half ? float_to_half(float_of(values.sum())) |
                        uint32_t(float_to_half(float_of(values.sum()))) << 16
                  : values.sum();
  return r;
}

void spoil(uint64_t& word, const Shape& shape) {
  word = (word & 0xffff0000u) | (shape.factor[0] == 'b' ? 0x7f80u : 0x7c00u);
}

// How many results differ once `row` of every tile of A is spoilt.
int differences_by_rows(const Shape& shape, Registers a, Registers& b, Registers& c, size_t row) {
  Registers plain(shape.d, false), other(shape.d, false);
  run(shape.spelling, plain, {&a, &b, &c});
  for (size_t tile = 0; tile < a.size(); tile += 2 * shape.steps) spoil(a[tile][4 * row], shape);
  run(shape.spelling, other, {&a, &b, &c});
  int different = 0;
  for (size_t i = 0; i < shape.d; ++i)
    for (size_t lane = 0; lane < 32; ++lane)
      different += lane / 4 != row && plain[i][lane] != other[i][lane];
  return different;
}
// The same for `column` of B.
int differences_by_columns(const Shape& shape, Registers& a, Registers b, Registers& c,
                           size_t column) {
  Registers plain(shape.d, false), other(shape.d, false);
  run(shape.spelling, plain, {&a, &b, &c});
  for (size_t tile = 0; tile < b.size(); tile += shape.steps) spoil(b[tile][4 * column], shape);
  run(shape.spelling, other, {&a, &b, &c});
  int different = 0;
  for (size_t i = 0; i < shape.d; ++i)
    for (size_t lane = 0; lane < 32; ++lane) {
      uint64_t mask = ~0ull;
      if (shape.half_d && lane % 4 == column / 2) mask = column % 2 ? 0xffffull : 0xffff0000ull;
      if (!shape.half_d && 2 * (lane % 4) + i % 2 == column) mask = 0;
      different += ((plain[i][lane] ^ other[i][lane]) & mask) != 0;
    }
  return different;
}

TEST(TensorCore, AllWaysAgree) {
  uint32_t seed = 1;
  for (const Shape& shape : kShapes)
    for (int mode = 0; mode < int(Mode::count); ++mode)
      for (int round = 0; round < 24; ++round, ++seed) {
        Values values(Mode(mode), seed);
        Registers a = halves(shape.a, shape.factor[0] == 'b', values),
                  b = halves(shape.b, shape.factor[0] == 'b', values),
                  c = sums(shape.c, shape.half_c, values);
        ASSERT_EQ(differences_by_rows(shape, a, b, c, seed % 8), 0)
            << shape.spelling << ", mode " << mode << ", seed " << seed;
        ASSERT_EQ(differences_by_columns(shape, a, b, c, seed % 8), 0)
            << shape.spelling << ", mode " << mode << ", seed " << seed;
      }
}

}  // namespace
}  // namespace ridge::vm::test
