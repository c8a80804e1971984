#include "vm/texture/cube.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "picture.h"

namespace ridge::vm::texture {
namespace {

TEST(Cube, FacesFollowTheLongestAxis) {
  const double directions[6][3] = {{2, 1, -1}, {-2, 1, 1}, {1, 2, -1},
                                   {1, -2, 1}, {1, 1, 2},  {-1, 1, -2}};
  // s / major and t / major by the table of the programming guide.
  const double expected[6][2] = {{0.5, -0.5}, {0.5, -0.5}, {0.5, -0.5},
                                 {0.5, -0.5}, {0.5, -0.5}, {0.5, -0.5}};
  for (int f = 0; f < 6; ++f) {
    const FacePoint p = face_of(directions[f]);
    EXPECT_EQ(p.face, f);
    EXPECT_EQ(p.major, 2);
    EXPECT_EQ(p.s / p.major, expected[f][0]) << f;
    EXPECT_EQ(p.t / p.major, expected[f][1]) << f;
  }
}

// Where a texel's centre is on the cube.
std::tuple<double, double, double> point_of(int face, int64_t x, int64_t y, int64_t n) {
  const double s = (2.0 * double(x) + 1 - double(n)) / double(n);
  const double t = (2.0 * double(y) + 1 - double(n)) / double(n);
  switch (face) {
    case 0: return {1, -t, -s};
    case 1: return {-1, -t, s};
    case 2: return {s, 1, t};
    case 3: return {s, -1, -t};
    case 4: return {s, -t, 1};
    default: return {-s, -t, -1};
  }
}

TEST(Cube, TexelsBeyondAnEdgeTouchIt) {
  const int64_t n = 4;
  for (int face = 0; face < 6; ++face)
    for (int64_t i = 0; i < n; ++i)
      for (const auto& [x, y, inner_x, inner_y] :
           {std::tuple{int64_t(-1), i, int64_t(0), i}, std::tuple{n, i, n - 1, i},
            std::tuple{i, int64_t(-1), i, int64_t(0)}, std::tuple{i, n, i, n - 1}}) {
        const FaceTexel there = across_edge(face, x, y, n);
        EXPECT_NE(there.face, face);
        const auto [ax, ay, az] = point_of(face, inner_x, inner_y, n);
        const auto [bx, by, bz] = point_of(there.face, there.x, there.y, n);
        // Two texels on either side of an edge are half a texel from it each.
        const double half = 1.0 / double(n);
        EXPECT_NEAR(std::hypot(ax - bx, ay - by, az - bz), std::sqrt(2.0) * half, 1e-9)
            << face << ' ' << x << ' ' << y;
      }
}

TEST(Cube, SeamlessLookupsMixFaces) {
  Picture p({Channel::real, 32, 1}, 2, 4, 4, 1, 6, true);
  for (uint32_t f = 0; f < 6; ++f)
    for (uint32_t y = 0; y < 4; ++y)
      for (uint32_t x = 0; x < 4; ++x) p.put(float(f), x, y, f);
  p.object.sampler.linear = true;
  Lookup l = lookup({1, 0, 0.9999});  // +x, next to +z
  l.cube = true;
  EXPECT_EQ(real(sample(p.object, l)[0]), 0.0f);
  p.object.sampler.seamless_cube = true;
  EXPECT_EQ(real(sample(p.object, l)[0]), 2.0f);  // half of face 0, half of face 4
  l.at[1] = 0.9999;                               // the corner of faces 0, 2 and 4
  // 64 of 256 each, and thirds of the fourth's 64: 22, 21, 21.
  EXPECT_EQ(real(sample(p.object, l)[0]), (2 * 85 + 4 * 85) / 256.0f);
}

}  // namespace
}  // namespace ridge::vm::texture
