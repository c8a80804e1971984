// jacobi rung 04, temporal: several iterations on a tile before it goes back to the memory.
//
// Since 03_register_blocking: a tile with a halo of 4 elements, or 2 in a volume, takes as many
//   iterations in shared memory, each on a smaller part of it. The memory is read and written once
//   for all of them. The halo is computed by several blocks: that is the price.
// Stops at: shared memory, 5 or 7 accesses for each element and iteration.
// Not for: a single iteration; wide stencils, whose halo grows by their radius per iteration; large
//   halos in three dimensions, where most of a tile would be halo.
#include <cmath>

#include "kernels/jacobi/box.cuh"
#include "select/select.h"

namespace ridge::jacobi::temporal {

constexpr int kThreads = 256;
constexpr int kFlatSteps = 4, kDeepSteps = 2;  // iterations per launch
// Not timed on a GPU yet: what the model of time gives for shared memory, in elements and
// iterations per microsecond of one SM.
constexpr double kUpdatesPerUs = 9000;
constexpr Tuned kTuned = {4.0, 0.75};

__global__ void __launch_bounds__(kThreads)
    jacobi_temporal(Args a, Tiles tiles, Box b, const float* from, float* to, int steps) {
  extern __shared__ float boxes[];
  float *old = boxes, *next = boxes + b.size;
  const Corner corner = corner_of(tiles);
  load_box<kThreads>(a, b, corner, from, old);
  __syncthreads();
  for (int s = 1; s <= steps; ++s) {
    // What is left after s iterations: elements at least s from the end of the box.
    const int edge_z = a.is_3d ? s : 0;
    for (int i = int(threadIdx.x); i < b.size; i += kThreads) {
      const InBox p = place_in(b, i);
      if (p.x < s || p.x >= b.width - s || p.y < s || p.y >= b.height - s || p.z < edge_z ||
          p.z >= b.depth - edge_z)
        continue;
      const int64_t x = corner.x + p.x - b.halo, y = corner.y + p.y - b.halo,
                    z = corner.z + p.z - b.halo_z;
      if (!is_in_grid(a, x, y, z)) continue;
      const float result = is_inner(a, x, y, z) ? mean_in(a, b, old, i) : old[i];
      if (s < steps) {
        next[i] = result;
      } else if (p.x >= b.halo && p.x < b.halo + tiles.width && p.y >= b.halo &&
                 p.y < b.halo + tiles.height && p.z >= b.halo_z && p.z < b.halo_z + tiles.depth) {
        to[(z * a.height + y) * a.width + x] = result;
      }
    }
    __syncthreads();
    float* const swapped = old;
    old = next;
    next = swapped;
  }
}

static int most_steps(const Args& a) { return a.is_3d ? kDeepSteps : kFlatSteps; }
static Tiles tiles(const Args& a) {
  return a.is_3d ? tiles_of(a, 28, 8, 8) : tiles_of(a, 56, 56, 1);
}
static Support supports(const Args& a, const DeviceInfo&) { return supports_tiles(tiles(a)); }
static size_t workspace(const Args& a, const DeviceInfo&) {
  return turns_bytes(a, most_steps(a));
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Tiles t = tiles(a);
  return in_turns(a, most_steps(a), stream, [&](const float* from, float* to, int steps) {
    const Box b = box_of(a, t, steps);
    jacobi_temporal<<<unsigned(t.count), kThreads, 2 * size_t(b.size) * sizeof(float), stream>>>(
        a, t, b, from, to, steps);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const Tiles t = tiles(a);
  const Box b = box_of(a, t, most_steps(a));
  const double launches = std::ceil(double(a.iterations) / most_steps(a));
  const double halo = double(b.size) / (t.width * t.height * t.depth);
  const double updates = double(a.iterations) * double(a.count()) * halo;
  return launches * streaming_us(kTuned, bytes(a), device) +
         updates / (kUpdatesPerUs * device.sm_count) + kTuned.fixed_us;
}
constinit const Rung rung = {.idea = "several iterations on a tile in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::jacobi::temporal
