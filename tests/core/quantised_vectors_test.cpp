// What the published definitions say, without our conversions: the toolkit's headers convert
// elements and scales, and the numbers that others publish stand here. The kernels are compared
// with `quantise` bit for bit, so what holds for it holds for them.
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/block_scaled.h"
#include "core/number.h"

namespace ridge {
namespace {

// Rows of blocks of very different sizes, with zeros and subnormal numbers.
std::vector<double> wild(size_t count, size_t block, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> plain(-1, 1);
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    const int kind = int((i / block * 2654435761u >> 8) % 9);
    const float x = plain(random);
    values[i] = double(kind == 0 ? 0.0f : kind == 1 ? x * 0x1p-140f : std::ldexp(x, 7 * kind - 30));
  }
  return values;
}

struct Quantised {
  std::vector<unsigned char> data, scales;
  std::vector<float> second;
  float offset = 0;
  Tensor tensor;
  Quantised(BlockFormat format, const std::vector<double>& values, int64_t rows, Dtype element)
      : data(values.size()), scales(values.size() * 4), second(values.size()) {
    tensor = block_scaled(format, data.data(), scales.data(), {rows, int64_t(values.size()) / rows},
                          second.data(), &offset);
    tensor.dtype = element;
    quantise(values.data(), tensor);
  }
  unsigned code(size_t i) const {
    return unsigned(load_bits(tensor.dtype, data.data(), int64_t(i)));
  }
  float scale_f32(size_t i) const { return float(load(Dtype::f32, scales.data(), int64_t(i))); }
};

float amax_of(const std::vector<double>& values, size_t first, size_t count) {
  float amax = 0;
  for (size_t i = first; i < first + count; ++i) amax = std::max(amax, float(std::fabs(values[i])));
  return amax;
}

// OCP MX 1.0, section 6.3: X = 2^(floor(log2 amax) - emax), elements V / X, rounded to nearest even
// and clamped. emax is 8 for e4m3, 15 for e5m2, 2 for e2m1.
TEST(QuantisedVectors, MxByTheToolkit) {
  const auto values = wild(64 * 32, 32, 1);
  const struct {
    BlockFormat format;
    Dtype element;
    int emax;
  } cases[] = {{BlockFormat::mxfp8_e4m3, Dtype::e4m3, 8},
               {BlockFormat::mxfp8_e5m2, Dtype::e5m2, 15},
               {BlockFormat::mxfp4, Dtype::e2m1, 2}};
  for (const auto& c : cases) {
    const Quantised q(c.format, values, 8, c.element);
    for (size_t block = 0; block < 64; ++block) {
      const float amax = amax_of(values, block * 32, 32);
      int exponent = -127;  // of what is too small for a scale, and of nothing
      if (amax > 0) {
        (void)std::frexp(amax, &exponent);  // amax = m 2^exponent, 0.5 <= m < 1
        exponent = std::max(exponent - 1 - c.emax, -127);
      }
      ASSERT_EQ(q.scales[block], unsigned(exponent + 127)) << block;
      for (size_t i = block * 32; i < block * 32 + 32; ++i) {
        const float scaled = float(std::ldexp(values[i], -exponent));
        const unsigned wanted =
            c.element == Dtype::e2m1
                ? __nv_cvt_float_to_fp4(scaled, __NV_E2M1, cudaRoundNearest) & 15u
                : __nv_cvt_float_to_fp8(scaled, __NV_SATFINITE,
                                        c.element == Dtype::e4m3 ? __NV_E4M3 : __NV_E5M2);
        ASSERT_EQ(q.code(i), wanted) << name_of(c.element) << " " << values[i];
      }
    }
  }
}

// NVFP4: S = amax of the tensor / (6 * 448); a block has e4m3((amax / 6) / S), and its elements are
// divided by that times S.
TEST(QuantisedVectors, Nvfp4ByTheToolkit) {
  const auto values = wild(64 * 16, 16, 2);
  const Quantised q(BlockFormat::nvfp4, values, 4, Dtype::e2m1);
  const float tensor = amax_of(values, 0, values.size()) / 2688;
  ASSERT_EQ(q.second[0], tensor);
  for (size_t block = 0; block < 64; ++block) {
    const float wanted = amax_of(values, block * 16, 16) / 6 / tensor;
    const __nv_fp8_storage_t scale = __nv_cvt_float_to_fp8(wanted, __NV_SATFINITE, __NV_E4M3);
    ASSERT_EQ(q.scales[block], scale);
    const __half_raw half = __nv_cvt_fp8_to_halfraw(scale, __NV_E4M3);
    const float divisor = float(decode(Dtype::f16, half.x)) * tensor;
    for (size_t i = block * 16; i < block * 16 + 16; ++i) {
      const float scaled = divisor == 0 ? 0 : float(values[i]) / divisor;
      ASSERT_EQ(q.code(i), __nv_cvt_float_to_fp4(scaled, __NV_E2M1, cudaRoundNearest) & 15u);
    }
  }
}

TEST(QuantisedVectors, Fp8BlocksByTheToolkit) {
  const auto values = wild(8 * 128, 128, 3);
  for (const Dtype element : {Dtype::e4m3, Dtype::e5m2}) {
    const Quantised q(BlockFormat::fp8_1x128, values, 2, element);
    const float most = element == Dtype::e4m3 ? 448 : 57344;
    for (size_t block = 0; block < 8; ++block) {
      const float scale = amax_of(values, block * 128, 128) / most;
      ASSERT_EQ(q.scale_f32(block), scale);
      for (size_t i = block * 128; i < block * 128 + 128; ++i) {
        const float scaled = scale == 0 ? 0 : float(values[i]) / scale;
        ASSERT_EQ(q.code(i), __nv_cvt_float_to_fp8(scaled, __NV_SATFINITE,
                                                   element == Dtype::e4m3 ? __NV_E4M3 : __NV_E5M2));
      }
    }
  }
}

TEST(QuantisedVectors, Int8ByRintf) {
  const auto values = wild(6 * 50, 50, 4);
  const Quantised rows(BlockFormat::int8_rows, values, 6, Dtype::i8);
  const Quantised cols(BlockFormat::int8_cols, values, 6, Dtype::i8);
  for (size_t r = 0; r < 6; ++r)
    for (size_t c = 0; c < 50; ++c) {
      const auto x = float(values[r * 50 + c]);
      const float of_row = amax_of(values, r * 50, 50) / 127;
      float of_col = 0;
      for (size_t k = 0; k < 6; ++k)
        of_col = std::max(of_col, std::fabs(float(values[k * 50 + c])));
      of_col /= 127;
      ASSERT_EQ(rows.scale_f32(r), of_row);
      ASSERT_EQ(cols.scale_f32(c), of_col);
      ASSERT_EQ(int8_t(rows.code(r * 50 + c)), of_row == 0 ? 0 : int(std::rintf(x / of_row)));
      ASSERT_EQ(int8_t(cols.code(r * 50 + c)), of_col == 0 ? 0 : int(std::rintf(x / of_col)));
    }
}

// The numbers at which the codes of NF4 change, as bitsandbytes has them in its kernels: f32
// numbers near the middle of two values.
TEST(QuantisedVectors, Nf4ThresholdsOfBitsandbytes) {
  const float thresholds[] = {-0.8480964004993439f,   -0.6106329262256622f,  -0.4599952697753906f,
                              -0.33967943489551544f,  -0.23460740596055984f, -0.13791173323988914f,
                              -0.045525018125772476f, 0.03979014977812767f,  0.1202552504837513f,
                              0.2035212516784668f,    0.2920137718319893f,   0.3893125355243683f,
                              0.5016634166240692f,    0.6427869200706482f,   0.8614784181118011f};
  for (int i = 0; i < 15; ++i) {
    const double t = double(thresholds[i]), step = std::fabs(t) * 0x1p-22;
    std::vector<double> values(64, 0.0);
    values[0] = 1, values[1] = t - step, values[2] = t + step;
    const Quantised q(BlockFormat::nf4, values, 1, Dtype::nf4);
    EXPECT_EQ(q.scale_f32(0), 1);
    EXPECT_EQ(q.code(1), unsigned(i)) << t;
    EXPECT_EQ(q.code(2), unsigned(i + 1)) << t;
  }
}

// QLoRA: 64 elements have an absmax; absmaxima less their mean are quantised to 8-bit floats, 256
// to a group. Worked out by hand: absmaxima 1, 2, 4 and 9 have the mean 4, and -3, -2, 0 and 5 are
// left; 5 / 448 makes -268.8, -179.2, 0 and 448 of them, which are -256, -176, 0 and 448 as e4m3.
TEST(QuantisedVectors, DoubleNf4ByHand) {
  std::vector<double> values(4 * 64, 0.0);
  values[0] = 1, values[1] = -0.5, values[64] = 2, values[128] = -4, values[192] = 9;
  const Quantised q(BlockFormat::nf4_double, values, 4, Dtype::nf4);
  EXPECT_EQ(q.offset, 4);
  EXPECT_EQ(q.second[0], 5.0f / 448);
  EXPECT_EQ(q.scales[0], 0xf8);  // 1 1111 000
  EXPECT_EQ(q.scales[1], 0xf3);  // 1 1110 011
  EXPECT_EQ(q.scales[2], 0x00);
  EXPECT_EQ(q.scales[3], 0x7e);
  EXPECT_EQ(q.code(0), 15u);
  EXPECT_EQ(q.code(1), 2u);  // divided by 1, not by 4 - 256 * 5 / 448: -0.5 is nearest to -0.525
  EXPECT_EQ(q.code(128), 0u);
  EXPECT_EQ(float(scale_of(q.tensor, 0)), -256 * (5.0f / 448) + 4);
}

}  // namespace
}  // namespace ridge
