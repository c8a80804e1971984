// Cube maps: which face a direction meets and where, and whose texel lies beyond a face's edge.
#pragma once

#include <cstdint>

namespace ridge::vm::texture {

struct FacePoint {
  int face = 0;                    // +x -x +y -y +z -z
  double s = 0, t = 0, major = 1;  // s / major and t / major are in [-1, 1] on the face
};
FacePoint face_of(const double direction[3]);

// What s, t and the major axis become when `vector` is seen from `face`.
FacePoint on_face(int face, const double vector[3]);

// Texel (x, y) of `face`, each size x size, where at most one of x and y is one texel outside:
// the texel of the neighbouring face that touches it there.
struct FaceTexel {
  int face = 0;
  int64_t x = 0, y = 0;
};
FaceTexel across_edge(int face, int64_t x, int64_t y, int64_t size);

}  // namespace ridge::vm::texture
