// jacobi rung 03, register_blocking: a thread walks down a column and keeps it in registers.
//
// Since 02_shared_tile: along the slowest dimension, what lies below becomes the element itself and
//   then what lies above, so each comes once and stays in a register for three steps. Only the
//   neighbours in the other dimensions are loaded again, from L1, where the same warp and the one
//   beside it just brought them. There is no shared memory and no barrier.
// Stops at: the memory, which each iteration reads and writes once.
// Not for: grids so small that strips of 32 rows leave SMs without work; several iterations, of
//   which each goes to the memory and back (04).
#include "kernels/jacobi/turns.cuh"
#include "select/select.h"

namespace ridge::jacobi::register_blocking {

constexpr int kThreads = 256, kWidth = 32, kRun = 32;
// Not timed on a GPU yet: the share that the model of time gives.
constexpr Tuned kTuned = {4.0, 0.75};

// Walks along the height of a plane, or along the depth of a volume.
__global__ void __launch_bounds__(kThreads)
    jacobi_register_blocking(Args a, Tiles tiles, const float* from, float* to) {
  const Corner corner = corner_of(tiles);
  const int lane = int(threadIdx.x) % kWidth, row = int(threadIdx.x) / kWidth;
  const int64_t x = corner.x + lane, plane = a.height * a.width;
  const int64_t y = a.is_3d ? corner.y + row : corner.y + row * kRun;
  if (x >= a.width || y >= a.height) return;
  const int64_t step = a.is_3d ? plane : a.width;
  const int64_t first = a.is_3d ? corner.z : y, size = a.is_3d ? a.depth : a.height;
  const int64_t end = min(first + kRun, size);
  const bool stays = x == 0 || x == a.width - 1 || (a.is_3d && (y == 0 || y == a.height - 1));
  int64_t i = (a.is_3d ? first * plane : 0) + y * a.width + x;
  float above = first > 0 ? from[i - step] : 0, here = from[i];
#pragma unroll 4
  for (int64_t at = first; at < end; ++at, i += step) {
    const float below = at + 1 < size ? from[i + step] : 0;
    float result = here;
    if (!stays && at > 0 && at < size - 1) {
      const float beside = from[i - 1] + from[i + 1];
      result = a.is_3d ? mean_of(a, from[i - a.width] + from[i + a.width] + beside, above + below)
                       : mean_of(a, above + below + beside, 0);
    }
    to[i] = result;
    above = here;
    here = below;
  }
}

static Tiles tiles(const Args& a) {
  return a.is_3d ? tiles_of(a, kWidth, kThreads / kWidth, kRun)
                 : tiles_of(a, kWidth, kThreads / kWidth * kRun, 1);
}
static Support supports(const Args& a, const DeviceInfo&) { return supports_tiles(tiles(a)); }
static size_t workspace(const Args& a, const DeviceInfo&) { return turns_bytes(a, 1); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Tiles t = tiles(a);
  return in_turns(a, 1, stream, [&](const float* from, float* to, int) {
    jacobi_register_blocking<<<unsigned(t.count), kThreads, 0, stream>>>(a, t, from, to);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return double(a.iterations) * streaming_us(kTuned, bytes(a), device) + kTuned.fixed_us;
}
constinit const Rung rung = {.idea = "a column in registers, walked down",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::jacobi::register_blocking
