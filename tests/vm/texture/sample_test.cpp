// Lookups against the formulas of the programming guide, written down once more and plainly.
#include "vm/texture/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "picture.h"

namespace ridge::vm::texture {
namespace {

constexpr Format kFloat = {Channel::real, 32, 1};

double value_at(int x, int y = 0, int z = 0) { return 1 + x + 10.0 * y + 100.0 * z; }

void fill(Picture& p) {
  const Level& level = p.object.image.levels[0];
  for (uint32_t z = 0; z < std::max(level.depth, p.object.image.layers); ++z)
    for (uint32_t y = 0; y < level.height; ++y)
      for (uint32_t x = 0; x < level.width; ++x)
        p.put(float(value_at(int(x), int(y), int(z))), x, y, z);
}

// What an address mode makes of texel i, by walking there.
int walk(Address mode, int i, int n) {
  if (mode == Address::border) return i < 0 || i >= n ? -1 : i;
  if (mode == Address::clamp) return i < 0 ? 0 : i >= n ? n - 1 : i;
  if (mode == Address::wrap) {
    while (i < 0) i += n;
    while (i >= n) i -= n;
    return i;
  }
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

TEST(Sample, PointTakesTheTexelThatHoldsTheCoordinate) {
  Picture p(kFloat, 2, 4, 3);
  fill(p);
  for (double x = -2; x < 6; x += 0.25)
    for (double y = -2; y < 5; y += 0.25) {
      const int i = walk(Address::clamp, int(std::floor(x)), 4);
      const int j = walk(Address::clamp, int(std::floor(y)), 3);
      EXPECT_EQ(real(sample(p.object, lookup({x, y}))[0]), float(value_at(i, j))) << x << ' ' << y;
    }
}

TEST(Sample, EveryAddressModeInEveryDimension) {
  for (const Address mode : {Address::wrap, Address::clamp, Address::mirror, Address::border})
    for (const bool linear : {false, true}) {
      Picture p(kFloat, 3, 4, 2, 3);
      fill(p);
      Sampler& s = p.object.sampler;
      s.normalized_coordinates = true;
      s.linear = linear;
      for (Address& a : s.address) a = mode;
      s.border[0] = -7;
      const auto texel = [&](int x, int y, int z) {
        const int i = walk(mode, x, 4), j = walk(mode, y, 2), k = walk(mode, z, 3);
        return i < 0 || j < 0 || k < 0 ? -7.0 : value_at(i, j, k);
      };
      for (double u = -2.05; u < 3; u += 0.171)
        for (double v = -1.1; v < 2; v += 0.313)
          for (const double w : {-0.4, 0.1, 0.5, 0.93, 1.7}) {
            double expected = 0;
            if (linear) {
              double at[3] = {u * 4 - 0.5, v * 2 - 0.5, w * 3 - 0.5}, part[3];
              int i[3];
              for (int a = 0; a < 3; ++a) {
                const double rounded = std::floor(at[a] * 256 + 0.5) / 256;
                i[a] = int(std::floor(rounded));
                part[a] = rounded - i[a];
              }
              for (int c = 0; c < 8; ++c)
                expected += texel(i[0] + (c & 1), i[1] + (c >> 1 & 1), i[2] + (c >> 2)) *
                            (c & 1 ? part[0] : 1 - part[0]) * (c >> 1 & 1 ? part[1] : 1 - part[1]) *
                            (c >> 2 ? part[2] : 1 - part[2]);
              // Eight weights of eight bits: each up to 1/256 off.
              EXPECT_NEAR(real(sample(p.object, lookup({u, v, w}))[0]), expected, 240.0 * 4 / 256)
                  << int(mode) << ' ' << u << ' ' << v << ' ' << w;
              continue;
            } else {
              expected =
                  texel(int(std::floor(u * 4)), int(std::floor(v * 2)), int(std::floor(w * 3)));
            }
            EXPECT_EQ(real(sample(p.object, lookup({u, v, w}))[0]), float(expected))
                << int(mode) << linear << ' ' << u << ' ' << v << ' ' << w;
          }
    }
}

TEST(Sample, RepeatingNeedsNormalizedCoordinates) {
  Picture p(kFloat, 1, 4);
  fill(p);
  p.object.sampler.address[0] = Address::wrap;
  EXPECT_EQ(real(sample(p.object, lookup({5.5}))[0]), float(value_at(3)));
  p.object.sampler.normalized_coordinates = true;
  EXPECT_EQ(real(sample(p.object, lookup({5.5 / 4}))[0]), float(value_at(1)));
}

TEST(Sample, WeightsHaveEightBits) {
  Picture p(kFloat, 1, 2);
  p.put(0.0f, 0);
  p.put(256.0f, 1);
  p.object.sampler.linear = true;
  for (int i = 0; i <= 4096; ++i) {
    const double x = 0.5 + i / 4096.0;
    EXPECT_EQ(real(sample(p.object, lookup({x}))[0]), std::floor(i / 16.0 + 0.5)) << i;
  }
}

TEST(Sample, FarAndStrangeCoordinatesEndInside) {
  Picture p(kFloat, 1, 4);
  fill(p);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(real(sample(p.object, lookup({infinity}))[0]), float(value_at(3)));
  EXPECT_EQ(real(sample(p.object, lookup({-1e30}))[0]), float(value_at(0)));
  EXPECT_EQ(real(sample(p.object, lookup({std::nan("")}))[0]), float(value_at(0)));
  p.object.sampler.normalized_coordinates = true;
  for (const Address mode : {Address::wrap, Address::mirror})
    for (const double far : {infinity, -infinity, 1e30, 3e9}) {
      p.object.sampler.address[0] = mode;
      EXPECT_EQ(real(sample(p.object, lookup({far}))[0]), float(value_at(0)));
    }
}

TEST(Sample, NormalizedCoordinatesHave21Bits) {
  Picture p(kFloat, 1, 100);
  fill(p);
  p.object.sampler.normalized_coordinates = true;
  const double third = 34 / 100.0;  // just below a texel's edge when cut off
  EXPECT_GT(std::ceil(third * 0x1p21) * 0x1p-21 * 100, 34);
  EXPECT_EQ(real(sample(p.object, lookup({third + 0x1p-23}))[0]), float(value_at(33)));
  EXPECT_EQ(real(sample(p.object, lookup({third + 0x1p-21}))[0]), float(value_at(34)));
}

TEST(Sample, ATexelWithoutWeightDoesNotCount) {
  Picture p(kFloat, 1, 2);
  p.put(3.0f, 0);
  p.put(std::numeric_limits<float>::infinity(), 1);
  p.object.sampler.linear = true;
  EXPECT_EQ(real(sample(p.object, lookup({0.5}))[0]), 3.0f);
}

TEST(Sample, OffsetsAreTexels) {
  Picture p(kFloat, 2, 4, 3);
  fill(p);
  p.object.sampler.normalized_coordinates = true;
  Lookup l = lookup({0.3, 0.5});
  l.offset[0] = 2;
  l.offset[1] = -1;
  EXPECT_EQ(real(sample(p.object, l)[0]), float(value_at(3, 0)));
}

TEST(Sample, IntegerCoordinatesNameATexelAndZeroLiesOutside) {
  Picture p({Channel::sint, 8, 2}, 1, 3);
  p.object.image.linear = true;
  p.put<int8_t>(-5, 2, 0, 0, 0);
  p.put<int8_t>(7, 2, 0, 0, 1);
  Lookup l = lookup({2});
  l.whole = true;
  EXPECT_EQ(sample(p.object, l), (Texel{uint32_t(-5), 7, 0, 0}));
  l.at[0] = 3;
  EXPECT_EQ(sample(p.object, l), (Texel{0, 0, 0, 0}));
  l.at[0] = -1;
  EXPECT_EQ(sample(p.object, l), (Texel{0, 0, 0, 0}));
  // Linear memory of one dimension is for fetches alone …
  l.at[0] = 2;
  l.whole = false;
  EXPECT_EQ(sample(p.object, l), (Texel{0, 0, 0, 0}));
  // … and an array of one is not for them.
  l.whole = true;
  p.object.image.linear = false;
  EXPECT_EQ(sample(p.object, l), (Texel{0, 0, 0, 0}));
}

TEST(Sample, AFetchFindsNothingInLayersThatAreNone) {
  Picture p(kFloat, 2, 2, 2, 1, 3);
  fill(p);
  Lookup l = lookup({1, 1});
  l.whole = true;
  l.layer = 2;
  EXPECT_EQ(real(sample(p.object, l)[0]), float(value_at(1, 1, 2)));
  l.layer = 3;
  EXPECT_EQ(sample(p.object, l), (Texel{0, 0, 0, 0}));
}

TEST(Sample, AVolumeIsNothingToALookupOfTwoDimensions) {
  Picture p(kFloat, 3, 2, 2, 2);
  fill(p);
  EXPECT_EQ(sample(p.object, lookup({0.5, 0.5})), (Texel{0, 0, 0, 0}));
}

TEST(Sample, OneDimensionIsTheFirstOfTwo) {
  Picture p(kFloat, 1, 4);
  fill(p);
  p.object.sampler.linear = true;
  for (Address& a : p.object.sampler.address) a = Address::border;
  p.object.sampler.border[0] = 11;
  EXPECT_EQ(real(sample(p.object, lookup({1.5}))[0]), (2 + 11) / 2.0f);
}

TEST(Sample, LayersClamp) {
  Picture p(kFloat, 2, 2, 2, 1, 3);
  fill(p);
  Lookup l = lookup({0.5, 1.5});
  for (const uint32_t layer : {0u, 1u, 2u, 3u, 77u}) {
    l.layer = layer;
    EXPECT_EQ(real(sample(p.object, l)[0]), float(value_at(0, 1, int(std::min(layer, 2u)))));
  }
}

TEST(Sample, AnEmptyTextureIsZero) {
  Picture p(kFloat, 2, 0, 4);
  const Texel zero = {0, 0, 0, 0};
  Lookup l = lookup({0.5, 0.5});
  for (const bool linear : {false, true}) {
    p.object.sampler.linear = linear;
    EXPECT_EQ(sample(p.object, l), zero);
  }
  EXPECT_EQ(gather(p.object, l, 0), zero);
  l.whole = true;
  EXPECT_EQ(sample(p.object, l), zero);
}

TEST(Sample, GatherGoesCounterClockwiseFromTheLowerLeft) {
  Picture p(kFloat, 2, 4, 4);
  fill(p);
  const Texel t = gather(p.object, lookup({1.9, 2.1}), 0);
  EXPECT_EQ(real(t[0]), float(value_at(1, 2)));
  EXPECT_EQ(real(t[1]), float(value_at(2, 2)));
  EXPECT_EQ(real(t[2]), float(value_at(2, 1)));
  EXPECT_EQ(real(t[3]), float(value_at(1, 1)));
}

// Levels of one texel each, worth 0, 1, 2 …, so that a result is the level.
struct Pyramid {
  std::vector<float> memory = {0, 1, 2, 3, 4};
  Object object;
  Pyramid() {
    object.image.format = kFloat;
    object.sampler.normalized_coordinates = true;
    object.sampler.max_level = 100;
    for (size_t k = 0; k < memory.size(); ++k) {
      Level level;
      level.base = reinterpret_cast<uint8_t*>(&memory[k]);
      level.width = 1;
      object.image.levels.push_back(level);
    }
    object.image.levels[0].width = 1;
  }
  float at(double level) {
    Lookup l = lookup({0.5});
    l.has_level = true;
    l.level = level;
    return real(sample(object, l)[0]);
  }
};

TEST(Levels, PointTakesTheNearest) {
  Pyramid p;
  EXPECT_EQ(p.at(-3), 0);
  EXPECT_EQ(p.at(0.4), 0);
  EXPECT_EQ(p.at(0.5), 1);
  EXPECT_EQ(p.at(1.4), 1);
  EXPECT_EQ(p.at(9), 4);
}

TEST(Levels, LinearMixesNeighboursBy256ths) {
  Pyramid p;
  p.object.sampler.mip_linear = true;
  EXPECT_EQ(p.at(0.5), 0.5f);
  EXPECT_EQ(p.at(2.25 + 1.0 / 1024), 2.25f);
  EXPECT_EQ(p.at(3.999), 3 + 255 / 256.0f);  // cut off
  EXPECT_EQ(p.at(99), 4.0f);
}

TEST(Levels, BiasThenClamps) {
  Pyramid p;
  p.object.sampler.mip_linear = true;
  p.object.sampler.bias = 0.5f;
  p.object.sampler.min_level = 1.25f;
  p.object.sampler.max_level = 2.5f;
  EXPECT_EQ(p.at(0), 1.25f);
  EXPECT_EQ(p.at(1), 1.5f);
  EXPECT_EQ(p.at(3), 2.5f);
  EXPECT_EQ(real(sample(p.object, lookup({0.5}))[0]), 1.25f);  // the base level, clamped
}

TEST(Levels, ABiasThatIsNoNumberIsNone) {
  Pyramid p;
  p.object.sampler.bias = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(p.at(2), 2.0f);
  p.object.sampler.bias = std::numeric_limits<float>::infinity();
  EXPECT_EQ(p.at(2), 4.0f);
}

TEST(Levels, GradientsAreTexelsPerPixel) {
  Picture p(kFloat, 2, 64, 32);
  p.object.sampler.normalized_coordinates = true;
  const Lookup l = lookup({0.5, 0.5});
  const double none[3] = {0, 0, 0}, x[3] = {4.0 / 64, 0, 0}, y[3] = {0, 8.0 / 32, 0},
               both[3] = {3.0 / 64, 4.0 / 32, 0};
  EXPECT_EQ(level_of_gradients(p.object, l, x, none), 2);
  EXPECT_EQ(level_of_gradients(p.object, l, x, y), 3);
  EXPECT_EQ(level_of_gradients(p.object, l, none, both), std::log2(5.0));
}

}  // namespace
}  // namespace ridge::vm::texture
