// Block-scaled tensors beside values computed by hand from the published definitions.
#include "core/block_scaled.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/number.h"

namespace ridge {
namespace {

// A block-scaled tensor with memory of its own, on the host.
struct Owned {
  std::vector<unsigned char> data, scales;
  std::vector<float> second;
  float offset = -1;
  Tensor tensor;

  Owned(BlockFormat format, std::initializer_list<int64_t> sizes) {
    unsigned char nothing = 0;
    float none = 0;
    const Tensor shape = block_scaled(format, &nothing, &nothing, sizes, &none);
    data.assign(bytes_for(shape.dtype, shape.elements()), 0xff);
    scales.assign(scale_bytes(shape), 0xff);
    second.assign(size_t(second_count(shape)), -1);
    tensor = block_scaled(format, data.data(), scales.data(), sizes, second.data(), &offset);
  }
  void quantise(const std::vector<double>& values) {
    ASSERT_EQ(int64_t(values.size()), tensor.elements());
    ridge::quantise(values.data(), tensor);
  }
  uint64_t element(int64_t i) const { return load_bits(tensor.dtype, data.data(), i); }
  uint64_t scale_bits(int64_t i) const { return load_bits(tensor.scales.dtype, scales.data(), i); }
  double value(int64_t i) const { return dequantised(tensor, i); }
};

std::vector<double> first_of(size_t count, std::vector<double> values) {
  values.resize(count, 0);
  return values;
}

// MX: amax 15, so the scale is 2^(floor(log2 15) - 2) = 2, and elements are rounded halves.
TEST(BlockScaled, Mxfp4) {
  Owned t(BlockFormat::mxfp4, {2, 32});
  std::vector<double> values = first_of(64, {15, 10, 1, 0.4, -7, 3, -0.6});
  values[32] = -0.01;  // 2^-7 <= 0.01 < 2^-6: the scale is 2^-9, and 5.12 becomes 6
  t.quantise(values);
  EXPECT_EQ(t.scale_bits(0), 127u + 1);
  EXPECT_EQ(t.value(0), 12);  // 7.5 is clamped to 6
  EXPECT_EQ(t.value(1), 8);   // 5 is halfway between 4 and 6, and 4 is even
  EXPECT_EQ(t.value(2), 1);
  EXPECT_EQ(t.value(3), 0);   // 0.2 is nearer to 0 than to 0.5
  EXPECT_EQ(t.value(4), -8);  // 3.5: to the even one of 3 and 4
  EXPECT_EQ(t.value(5), 3);
  EXPECT_EQ(t.value(6), -1);
  EXPECT_EQ(t.data[0], 0x67);  // the second element, 4 = 0110, above the first, 6 = 0111
  EXPECT_EQ(t.scale_bits(1), 127u - 9);
  EXPECT_EQ(t.value(32), -6 * 0x1p-9);
  EXPECT_EQ(t.value(33), 0);
}

TEST(BlockScaled, Mxfp8AndMxfp6) {
  const struct {
    BlockFormat format;
    int emax;
    double largest;
  } cases[] = {{BlockFormat::mxfp8_e4m3, 8, 448},
               {BlockFormat::mxfp8_e5m2, 15, 57344},
               {BlockFormat::mxfp6_e2m3, 2, 7.5},
               {BlockFormat::mxfp6_e3m2, 4, 28}};
  for (const auto& c : cases) {
    Owned t(c.format, {33});
    std::vector<double> values(33, 0.0);
    values[3] = -1000;  // 2^9 <= 1000 < 2^10
    values[32] = 1;     // a block of one element
    t.quantise(values);
    ASSERT_EQ(t.scales.size(), 2u);
    EXPECT_EQ(t.scale_bits(0), uint64_t(127 + 9 - c.emax));
    EXPECT_EQ(t.scale_bits(1), uint64_t(127 - c.emax));
    // In units of the scale 1000 is 1.953 * 2^emax, which is past the largest of every format.
    const double scale = std::ldexp(1, 9 - c.emax);
    EXPECT_EQ(t.value(3), -c.largest * scale);
    EXPECT_EQ(t.value(32), 1);
  }
}

// NVFP4: 2688 = 6 * 448, so the scale of the tensor is 1, and those of blocks are amax / 6.
TEST(BlockScaled, Nvfp4) {
  Owned t(BlockFormat::nvfp4, {1, 48});
  std::vector<double> values(48, 0.0);
  values[0] = 2688, values[1] = -224 * 6;
  values[16] = 9, values[17] = 4.5, values[18] = -1;
  values[32] = 10;
  t.quantise(values);
  ASSERT_EQ(t.second.size(), 1u);
  EXPECT_EQ(t.second[0], 1.0f);
  EXPECT_EQ(t.scale_bits(0), 0x7eu);  // 448
  EXPECT_EQ(t.value(0), 2688);
  EXPECT_EQ(t.value(1), -1344);
  EXPECT_EQ(t.scale_bits(1), 0x3cu);  // 1.5
  EXPECT_EQ(t.value(16), 9);
  EXPECT_EQ(t.value(17), 4.5);
  EXPECT_EQ(t.value(18), -0.75);      // 2/3 is nearer to 0.5 than to 1
  EXPECT_EQ(t.scale_bits(2), 0x3du);  // 10 / 6 = 1.667 becomes 1.625
  EXPECT_EQ(t.value(32), 9.75);

  for (double& v : values) v *= 0x1p-20;  // the scale of the tensor takes all of that
  t.quantise(values);
  EXPECT_EQ(t.second[0], 0x1p-20f);
  EXPECT_EQ(t.scale_bits(2), 0x3du);
  EXPECT_EQ(t.value(32), 9.75 * 0x1p-20);
}

TEST(BlockScaled, Fp8InSquares) {
  Owned t(BlockFormat::fp8_128x128, {2, 130, 129});
  ASSERT_EQ(t.scales.size(), size_t(2 * 2 * 2 * 4));
  std::vector<double> values(size_t(t.tensor.elements()), 0);
  const auto at = [](int64_t matrix, int64_t row, int64_t col) {
    return (matrix * 130 + row) * 129 + col;
  };
  values[size_t(at(0, 127, 127))] = 448;     // square 0
  values[size_t(at(0, 0, 128))] = -896;      // square 1
  values[size_t(at(0, 129, 5))] = 44.8;      // square 2
  values[size_t(at(1, 128, 128))] = 0x1p-9;  // the last of matrix 1
  t.quantise(values);
  EXPECT_EQ(load(Dtype::f32, t.scales.data(), 0), 1);
  EXPECT_EQ(load(Dtype::f32, t.scales.data(), 1), 2);
  EXPECT_EQ(load(Dtype::f32, t.scales.data(), 2), double(float(44.8 / 448)));
  EXPECT_EQ(load(Dtype::f32, t.scales.data(), 3), 0);
  EXPECT_EQ(load(Dtype::f32, t.scales.data(), 7), double(float(0x1p-9 / 448)));
  EXPECT_EQ(t.element(at(0, 129, 5)), 0x7eu);
  EXPECT_EQ(t.value(at(0, 0, 128)), -896);
  EXPECT_EQ(t.value(at(0, 129, 128)), 0);
}

TEST(BlockScaled, Fp8InRows) {
  Owned t(BlockFormat::fp8_1x128, {2, 200});
  std::vector<double> values(400, 1.0);
  values[0] = 448, values[199] = 896, values[200] = 4.48;
  t.quantise(values);
  ASSERT_EQ(t.scales.size(), 16u);
  EXPECT_EQ(t.value(0), 448);
  EXPECT_EQ(t.value(1), 1);
  EXPECT_EQ(t.value(199), 896);
  EXPECT_EQ(load(Dtype::f32, t.scales.data(), 2), double(float(0.01)));
}

TEST(BlockScaled, Nf4) {
  Owned t(BlockFormat::nf4, {64});
  std::vector<double> values = first_of(64, {-2, 2 * 0.7229568362236023, 0.1, 2 * 0.62});
  t.quantise(values);
  EXPECT_EQ(load(Dtype::f32, t.scales.data(), 0), 2);
  EXPECT_EQ(t.element(0), 0u);
  EXPECT_EQ(t.element(1), 14u);
  EXPECT_EQ(t.element(2), 8u);   // 0.05 is nearer to 0.0796 than to 0
  EXPECT_EQ(t.element(3), 13u);  // 0.62 lies below 0.643, halfway from 0.563 to 0.723
  EXPECT_EQ(t.element(4), 7u);   // 0
  EXPECT_EQ(t.value(0), -2);
}

// Absmaxima 1, 2 and 3 have the mean 2, so -1, 0 and 1 are left, which 448ths hold exactly.
TEST(BlockScaled, Nf4WithQuantisedScales) {
  Owned t(BlockFormat::nf4_double, {3, 64});
  std::vector<double> values(192, 0.0);
  values[0] = 1, values[64] = -2, values[128] = 3;
  t.quantise(values);
  EXPECT_EQ(t.offset, 2.0f);
  ASSERT_EQ(t.second.size(), 1u);
  EXPECT_EQ(t.second[0], float(1 / 448.0));
  EXPECT_EQ(t.scale_bits(0), 0xfeu);
  EXPECT_EQ(t.scale_bits(1), 0x00u);
  EXPECT_EQ(t.scale_bits(2), 0x7eu);
  EXPECT_NEAR(t.value(0), 1, 1e-6);
  EXPECT_EQ(t.value(64), -2);
  EXPECT_NEAR(t.value(128), 3, 1e-6);
  Owned long_one(BlockFormat::nf4_double, {257, 64});
  EXPECT_EQ(long_one.second.size(), 2u);
}

TEST(BlockScaled, Int8Rows) {
  Owned t(BlockFormat::int8_rows, {2, 3});
  t.quantise({-127, 2.5, 3.5, 0.5, 1, -0.25});
  EXPECT_EQ(t.scales.size(), 8u);
  EXPECT_EQ(t.value(0), -127);
  EXPECT_EQ(t.value(1), 2);
  EXPECT_EQ(t.value(2), 4);
  EXPECT_EQ(t.element(4), 127u);
  EXPECT_EQ(t.element(3), 64u);    // 63.5 goes to even
  EXPECT_EQ(t.element(5), 0xe0u);  // -31.75 to -32
}

TEST(BlockScaled, WhatIsNotFiniteSpoilsItsBlockAlone) {
  for (const BlockFormatInfo& info : kBlockFormats) {
    Owned t(info.format, {4, 256});
    std::vector<double> values(1024, 1.0);
    values[1] = NAN;          // in the first block of row 0
    values[1023] = INFINITY;  // in the last of row 3
    t.quantise(values);
    if (info.block_cols != 1) {
      EXPECT_TRUE(std::isnan(t.value(0))) << info.name;
    }
    EXPECT_TRUE(std::isnan(t.value(1))) << info.name;
    EXPECT_TRUE(std::isnan(t.value(1023))) << info.name;
    if (info.block_rows == 1) {
      EXPECT_NEAR(t.value(300), 1, 0.07) << info.name;
    }
  }
}

TEST(BlockScaled, ZerosStayZeros) {
  for (const BlockFormatInfo& info : kBlockFormats) {
    Owned t(info.format, {2, 70});
    t.quantise(std::vector<double>(140, 0.0));
    for (int64_t i = 0; i < 140; ++i) ASSERT_EQ(t.value(i), 0) << info.name;
  }
}

// Blocks differ in size by powers of two, so an element that took its neighbour's scale would show.
TEST(BlockScaled, EveryBlockHasItsOwnScale) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  for (const BlockFormatInfo& info : kBlockFormats) {
    Owned t(info.format, {3, 150, 300});
    const ScaleGrid grid = scale_grid(t.tensor);
    std::vector<double> values(size_t(t.tensor.elements()));
    std::vector<double> amax(size_t(grid.count()), 0.0);
    const auto block_of = [&](size_t i) {
      const auto row = int64_t(i) / 300;
      return size_t(grid.index(row / 150, row % 150, int64_t(i) % 300));
    };
    for (size_t i = 0; i < values.size(); ++i) {
      // Scales that are quantised around their mean hold no range: all blocks alike there.
      const int range = info.has_offset ? 0 : int(block_of(i) % 8);
      values[i] = std::ldexp(mantissa(random), range);
      amax[block_of(i)] = std::max(amax[block_of(i)], std::fabs(values[i]));
    }
    t.quantise(values);
    // Half of the widest gap between elements, and MX's clamping of what a scale leaves too large.
    const double gap = info.element == Dtype::nf4   ? 0.153
                       : bits_of(info.element) == 4 ? 1 / 3.0
                                                    : 0.126;
    const double rounding_of_scales = info.scale == Dtype::f32 ? 0 : 0.065;
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_LE(std::fabs(t.value(int64_t(i)) - values[i]),
                (gap + rounding_of_scales) * amax[block_of(i)])
          << info.name << " " << i;
  }
}

}  // namespace
}  // namespace ridge
