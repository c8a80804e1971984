// A tile of the grid with a halo around it, in shared memory. Without depth there is no halo in it.
#pragma once

#include "device/divide.cuh"
#include "kernels/jacobi/turns.cuh"

namespace ridge::jacobi {

struct Box {
  int halo, halo_z;
  int width, height, depth;  // with the halo
  int size;
  Divider by_width, by_height;
};
inline Box box_of(const Args& a, const Tiles& t, int halo) {
  Box b;
  b.halo = halo;
  b.halo_z = a.is_3d ? halo : 0;
  b.width = t.width + 2 * halo;
  b.height = t.height + 2 * halo;
  b.depth = t.depth + 2 * b.halo_z;
  b.size = b.width * b.height * b.depth;
  b.by_width = Divider(b.width, b.size + 1);
  b.by_height = Divider(b.height, b.size + 1);
  return b;
}

struct InBox {
  int x, y, z;
};
__device__ __forceinline__ InBox place_in(const Box& b, int i) {
  const int row = int(b.by_width.quotient(i)), plane = int(b.by_height.quotient(row));
  return {i - row * b.width, row - plane * b.height, plane};
}

// Elements outside of the grid are never used: only inner elements look at their neighbours.
template <int kThreads>
__device__ __forceinline__ void load_box(const Args& a, const Box& b, const Corner& corner,
                                         const float* from, float* box) {
  for (int i = int(threadIdx.x); i < b.size; i += kThreads) {
    const InBox p = place_in(b, i);
    const int64_t x = corner.x + p.x - b.halo, y = corner.y + p.y - b.halo,
                  z = corner.z + p.z - b.halo_z;
    box[i] = is_in_grid(a, x, y, z) ? from[(z * a.height + y) * a.width + x] : 0;
  }
}

__device__ __forceinline__ float mean_in(const Args& a, const Box& b, const float* box, int i) {
  const int plane = b.width * b.height;
  const float flat = box[i - b.width] + box[i + b.width] + box[i - 1] + box[i + 1];
  return mean_of(a, flat, a.is_3d ? box[i - plane] + box[i + plane] : 0);
}

}  // namespace ridge::jacobi
