#include "core/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace ridge {
namespace {

uint16_t bits_of(Dtype dtype, double value) {
  uint16_t bits = 0;
  store(dtype, &bits, 0, value);
  return bits;
}

TEST(Number, EverySixteenBitPatternSurvives) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16})
    for (uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
      const auto bits = uint16_t(pattern);
      const double value = load(dtype, &bits, 0);
      if (std::isnan(value)) continue;
      ASSERT_EQ(bits_of(dtype, value), bits) << name_of(dtype) << " " << pattern;
    }
}

TEST(Number, RoundsToNearestEven) {
  EXPECT_EQ(bits_of(Dtype::f16, 1.0), 0x3c00);
  EXPECT_EQ(bits_of(Dtype::f16, 1.0 + 0x1p-11), 0x3c00);            // a tie goes to even
  EXPECT_EQ(bits_of(Dtype::f16, 1.0 + 3 * 0x1p-11), 0x3c02);        // the other way
  EXPECT_EQ(bits_of(Dtype::f16, 1.0 + 0x1p-11 + 0x1p-40), 0x3c01);  // more than f32 could tell
  EXPECT_EQ(bits_of(Dtype::f16, 65519), 0x7bff);
  EXPECT_EQ(bits_of(Dtype::f16, 65520), 0x7c00);  // halfway to what would come next: infinity
  EXPECT_EQ(bits_of(Dtype::f16, 0x1p-25), 0x0000);
  EXPECT_EQ(bits_of(Dtype::f16, 0x1.8p-25), 0x0001);
  EXPECT_EQ(bits_of(Dtype::bf16, -3.0), 0xc040);
  EXPECT_EQ(bits_of(Dtype::bf16, 3.4e38), 0x7f80);
  EXPECT_TRUE(std::isnan(rounded(Dtype::bf16, NAN)));
}

TEST(Number, NamesReadBack) {
  for (const Dtype d : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::i32, Dtype::i64,
                        Dtype::u32, Dtype::u8})
    EXPECT_EQ(parse_dtype(name_of(d)), d);
  EXPECT_EQ(parse_dtype("f33"), std::nullopt);
}

}  // namespace
}  // namespace ridge
