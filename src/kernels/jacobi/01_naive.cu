// jacobi rung 01, naive: one launch per iteration, one thread per element.
//
// Stops at: the memory, which every iteration reads and writes once, if the caches hold the rows
//   around; and the load units, 4 or 6 loads per element.
// Not for: many iterations (04).
#include "kernels/jacobi/turns.cuh"

namespace ridge::jacobi::naive {

constexpr int kThreads = 256, kWidth = 32, kHeight = 8;

__global__ void __launch_bounds__(kThreads)
    jacobi_naive(Args a, Tiles tiles, const float* from, float* to) {
  const Corner corner = corner_of(tiles);
  const int64_t x = corner.x + threadIdx.x % kWidth, y = corner.y + threadIdx.x / kWidth,
                z = corner.z;
  if (x >= a.width || y >= a.height) return;
  const int64_t i = (z * a.height + y) * a.width + x, plane = a.height * a.width;
  if (!is_inner(a, x, y, z)) {
    to[i] = from[i];
    return;
  }
  const float flat = from[i - a.width] + from[i + a.width] + from[i - 1] + from[i + 1];
  const float deep = a.is_3d ? from[i - plane] + from[i + plane] : 0;
  to[i] = mean_of(a, flat, deep);
}

static Tiles tiles(const Args& a) { return tiles_of(a, kWidth, kHeight, 1); }
static Support supports(const Args& a, const DeviceInfo&) { return supports_tiles(tiles(a)); }
static size_t workspace(const Args& a, const DeviceInfo&) { return turns_bytes(a, 1); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return in_turns(a, 1, stream, [&](const float* from, float* to, int) {
    jacobi_naive<<<unsigned(tiles(a).count), kThreads, 0, stream>>>(a, tiles(a), from, to);
  });
}
constinit const Rung rung = {.idea = "one launch per iteration, one thread per element",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.barriers = 0}};

}  // namespace ridge::jacobi::naive
