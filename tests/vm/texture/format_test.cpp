#include "vm/texture/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "picture.h"

namespace ridge::vm::texture {
namespace {

template <class T>
Colour colour_of(const Format& format, const Reading& reading, std::vector<T> channels) {
  return colour_at(format, reading, reinterpret_cast<const uint8_t*>(channels.data()));
}

TEST(Format, FractionsReachOneAtBothEnds) {
  const Reading n{true, false};
  EXPECT_EQ(colour_of<uint8_t>({Channel::uint, 8, 4}, n, {0, 255, 51, 1}),
            (Colour{0, 1, 0.2, 1.0 / 255}));
  EXPECT_EQ(colour_of<int8_t>({Channel::sint, 8, 4}, n, {-128, -127, 127, 0}),
            (Colour{-128.0 / 127, -1, 1, 0}));
  EXPECT_EQ(colour_of<uint16_t>({Channel::uint, 16, 2}, n, {65535, 13107}), (Colour{1, 0.2, 0, 0}));
  EXPECT_EQ(colour_of<int16_t>({Channel::sint, 16, 1}, n, {-32768}),
            (Colour{-32768.0 / 32767, 0, 0, 0}));
  EXPECT_EQ(colour_of<uint8_t>({Channel::unorm, 8, 1}, {}, {255}), (Colour{1, 0, 0, 0}));
  EXPECT_EQ(colour_of<uint32_t>({Channel::unorm, 10, 4}, {}, {1023u | 3u << 30}),
            (Colour{1, 0, 0, 1}));
}

TEST(Format, WhatIsReadEndsAtMinusOne) {
  const int8_t least[2] = {-128, 127};
  EXPECT_EQ(texel_at({Channel::sint, 8, 2}, {true, false}, reinterpret_cast<const uint8_t*>(least)),
            (Texel{0xbf800000, 0x3f800000, 0, 0}));
}

TEST(Format, ReadsTheBitsOfNumbersThatAreNone) {
  const uint16_t halves[2] = {0x7d01, 0xfc80};
  EXPECT_EQ(texel_at({Channel::real, 16, 2}, {}, reinterpret_cast<const uint8_t*>(halves)),
            (Texel{0x7fa02000, 0xff900000, 0, 0}));
}

TEST(Format, TenBitsAreWidenedForFiltersAlone) {
  const uint32_t texel = 341;
  const auto* at = reinterpret_cast<const uint8_t*>(&texel);
  const Format format = {Channel::unorm, 10, 4};
  EXPECT_EQ(colour_at(format, {}, at)[0], (341 * 64 + 341 / 16) / 65535.0);
  EXPECT_EQ(texel_at(format, {}, at)[0], std::bit_cast<uint32_t>(float(341 / 1023.0)));
}

// 0.25 is 63.75 of 255; the bits of 7.0f are cut off to those of a short, which are 0.
TEST(Format, ABorderIsATexel) {
  const float border[4] = {0.25f, 7, -1, 5};
  TexelBytes bytes = border_bytes({Channel::uint, 8, 4}, {true, false}, border);
  EXPECT_EQ(std::memcmp(bytes.data(), "\x40\xff\x00\xff", 4), 0);
  bytes = border_bytes({Channel::sint, 8, 4}, {true, false}, border);
  EXPECT_EQ(std::memcmp(bytes.data(), "\x20\x7f\x81\x7f", 4), 0);
  bytes = border_bytes({Channel::sint, 16, 2}, {}, border);
  EXPECT_EQ(std::memcmp(bytes.data(), "\0\0\0\0", 4), 0);
  bytes = border_bytes({Channel::sint, 32, 1}, {}, border);
  EXPECT_EQ(std::memcmp(bytes.data(), border, 4), 0);
}

TEST(Format, SrgbIsForColours) {
  const Colour c = colour_of<uint8_t>({Channel::uint, 8, 4}, {true, true}, {10, 128, 255, 128});
  EXPECT_NEAR(c[0], 10 / 255.0 / 12.92, 2e-5);
  EXPECT_NEAR(c[1], std::pow((128 / 255.0 + 0.055) / 1.055, 2.4), 2e-3);
  EXPECT_EQ(c[2], 1);
  EXPECT_EQ(c[3], 128 / 255.0);
}

TEST(Format, HalvesGoThereAndBack) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float f = half_to_float(uint16_t(h));
    if (f == f) {
      EXPECT_EQ(float_to_half(f), h);
    } else {
      EXPECT_EQ(float_to_half(f), 0x7fff);
    }
  }
  EXPECT_EQ(float_to_half(65519.99f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(1 + 0x1p-11f), 0x3c00);  // a tie, to even
  EXPECT_EQ(float_to_half(1 + 0x1p-10f + 0x1p-11f), 0x3c02);
  EXPECT_EQ(float_to_half(0x1p-25f), 0);
}

TEST(Format, StoresSaturateAndRound) {
  uint8_t bytes[16] = {};
  store_texel({Channel::uint, 8, 4}, {300, 7, 0xffffffff, 255}, bytes);
  EXPECT_EQ(std::memcmp(bytes, "\xff\x07\xff\xff", 4), 0);
  store_texel({Channel::sint, 8, 4}, {uint32_t(-300), 300, uint32_t(-1), 1}, bytes);
  EXPECT_EQ(std::memcmp(bytes, "\x80\x7f\xff\x01", 4), 0);
  store_texel({Channel::unorm, 8, 2},
              {std::bit_cast<uint32_t>(0.5f), std::bit_cast<uint32_t>(-2.0f)}, bytes);
  EXPECT_EQ(std::memcmp(bytes, "\x7f\x00", 2), 0);  // halves towards zero
  store_texel({Channel::real, 16, 1}, {std::bit_cast<uint32_t>(1.5f)}, bytes);
  EXPECT_EQ(std::memcmp(bytes, "\x00\x3e", 2), 0);
  store_texel({Channel::real, 16, 1}, {0xffffffff}, bytes);
  EXPECT_EQ(std::memcmp(bytes, "\xff\xff", 2), 0);
}

// What an H200 stores: most of these floats are a little above their half, those of 130.5 / 255,
// 100.5 / 127 and 29.5 / 127 a little below it.
TEST(Format, WhatIsAHalfAsAFloatGoesTowardsZero) {
  const auto stored = [](Channel kind, int bits, float value) {
    uint16_t texel = 0;
    store_texel({kind, uint8_t(bits), 1}, {std::bit_cast<uint32_t>(value)},
                reinterpret_cast<uint8_t*>(&texel));
    return texel;
  };
  for (const int n : {100, 110, 120, 130}) {
    EXPECT_EQ(stored(Channel::unorm, 8, (float(n) + 0.375f) / 255), n);
    EXPECT_EQ(stored(Channel::unorm, 8, (float(n) + 0.5f) / 255), n);
    EXPECT_EQ(stored(Channel::unorm, 8, (float(n) + 0.625f) / 255), n + 1);
  }
  for (const int n : {9, 19, 29, 39, 100, 110, 120}) {
    EXPECT_EQ(stored(Channel::snorm, 8, (float(n) + 0.5f) / 127), n);
    EXPECT_EQ(int8_t(stored(Channel::snorm, 8, (float(n) + 0.5f) / -127)), -n);
    EXPECT_EQ(int8_t(stored(Channel::snorm, 8, (float(n) + 0.625f) / -127)), -n - 1);
  }
  EXPECT_EQ(stored(Channel::snorm, 8, 130.5f / 127), 127);
  EXPECT_EQ(stored(Channel::snorm, 8, 0.5f), 0x3f);
  EXPECT_EQ(stored(Channel::snorm, 8, -0.5f), 0xc1);
}

}  // namespace
}  // namespace ridge::vm::texture
