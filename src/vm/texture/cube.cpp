#include "vm/texture/cube.h"

#include <algorithm>
#include <cmath>

namespace ridge::vm::texture {
namespace {

// For each face: which axis s, t and the major axis are, and their signs.
struct Axes {
  int s, s_sign, t, t_sign, major, major_sign;
};
constexpr Axes kAxes[6] = {
    {2, -1, 1, -1, 0, 1}, {2, 1, 1, -1, 0, -1}, {0, 1, 2, 1, 1, 1},
    {0, 1, 2, -1, 1, -1}, {0, 1, 1, -1, 2, 1},  {0, -1, 1, -1, 2, -1},
};

}  // namespace

FacePoint on_face(int face, const double v[3]) {
  const Axes& a = kAxes[face];
  return {face, a.s_sign * v[a.s], a.t_sign * v[a.t], a.major_sign * v[a.major]};
}

// Where two axes are equally long, z goes before y and y before x.
FacePoint face_of(const double v[3]) {
  const double x = std::fabs(v[0]), y = std::fabs(v[1]), z = std::fabs(v[2]);
  const int axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
  FacePoint p = on_face(2 * axis + (v[axis] < 0), v);
  if (p.major == 0) p.major = 1;  // no direction at all: the middle of a face
  return p;
}

FaceTexel across_edge(int face, int64_t x, int64_t y, int64_t size) {
  // The centre of the texel folded over the edge: on the edge's side of the cube, half a texel
  // below it.
  const double n = double(size);
  const auto centre = [&](int64_t i) { return (2 * double(i) + 1 - n) / n; };
  double s = centre(x), t = centre(y), major = 1;
  if (x < 0 || x >= size) {
    s = x < 0 ? -1 : 1;
    major = 1 - 1 / n;
  } else {
    t = y < 0 ? -1 : 1;
    major = 1 - 1 / n;
  }
  const Axes& a = kAxes[face];
  double v[3];
  v[a.s] = a.s_sign * s;
  v[a.t] = a.t_sign * t;
  v[a.major] = a.major_sign * major;
  int axis = 0;  // the one that is 1 now
  if (std::fabs(v[1]) == 1) axis = 1;
  if (std::fabs(v[2]) == 1) axis = 2;
  const FacePoint p = on_face(2 * axis + (v[axis] < 0), v);
  const auto index = [&](double c) {
    return std::clamp<int64_t>(int64_t(std::floor((c + 1) / 2 * n)), 0, size - 1);
  };
  return {p.face, index(p.s), index(p.t)};
}

}  // namespace ridge::vm::texture
