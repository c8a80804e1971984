// jacobi rung 04, temporal: several iterations on a tile before it goes back to the memory.
//
// Since 03_register_blocking: a tile with a halo of 4 elements, or 2 in a volume, takes as many
//   iterations on the chip, so the memory is read and written once for all of them. A thread keeps
//   its column of the tile in registers, and shares it with its neighbours through shared memory.
//   Wrong values creep in from the end of the halo by one element per iteration, and never reach
//   the tile. The halo is computed by several blocks: that is the price.
// Stops at: instructions, about ten for each element and iteration; and at two barriers for each
//   iteration.
// Not for: a single iteration; wide stencils, whose halo grows by their radius per iteration; large
//   halos in three dimensions, where most of a tile would be halo.
#include <cmath>

#include "kernels/jacobi/turns.cuh"
#include "select/select.h"

namespace ridge::jacobi::temporal {

// A box is a tile with its halo. Columns go along the height of a plane, or the depth of a volume.
template <bool kIs3d>
struct Box {
  static constexpr int kSteps = kIs3d ? 2 : 4;  // iterations per launch: the halo
  static constexpr int kWidth = kIs3d ? 32 : 64, kHeight = kIs3d ? 12 : 64, kDepth = kIs3d ? 12 : 1;
  static constexpr int kRun = kIs3d ? 12 : 16;  // elements of a thread, one below the other
  static constexpr int kSize = kWidth * kHeight * kDepth, kThreads = kSize / kRun;
  static constexpr int kStep = kIs3d ? kWidth * kHeight : kWidth;  // along a column
  static constexpr int kTileWidth = kWidth - 2 * kSteps, kTileHeight = kHeight - 2 * kSteps;
  static constexpr int kTileDepth = kIs3d ? kDepth - 2 * kSteps : 1;
};
// Not timed on a GPU yet: what the model of time gives, in elements and iterations per microsecond
// of one SM.
constexpr double kUpdatesPerUs = 15000;
constexpr Tuned kTuned = {4.0, 0.75};

template <bool kIs3d>
__global__ void __launch_bounds__(Box<kIs3d>::kThreads)
    jacobi_temporal(Args a, Tiles tiles, const float* from, float* to, int steps) {
  using B = Box<kIs3d>;
  __shared__ float box[B::kSize];
  const Corner corner = corner_of(tiles);
  const int col = int(threadIdx.x) % B::kWidth, row = int(threadIdx.x) / B::kWidth;
  const int first = kIs3d ? int(threadIdx.x) : row * B::kRun * B::kWidth + col;
  const int64_t x = corner.x + col - B::kSteps;
  // The place of element k of the column.
  const auto box_y = [&](int k) { return kIs3d ? row : row * B::kRun + k; };
  const auto y_of = [&](int k) { return corner.y + box_y(k) - B::kSteps; };
  const auto z_of = [&](int k) { return kIs3d ? corner.z + k - B::kSteps : corner.z; };
  const auto index = [&](int k) { return (z_of(k) * a.height + y_of(k)) * a.width + x; };

  float own[B::kRun];
  uint32_t moves = 0;  // one bit for each that is neither on the border nor at the end of the box
#pragma unroll
  for (int k = 0; k < B::kRun; ++k) {
    const bool inside = is_in_grid(a, x, y_of(k), z_of(k));
    own[k] = inside ? from[index(k)] : 0;
    const bool at_end = col == 0 || col == B::kWidth - 1 || box_y(k) == 0 ||
                        box_y(k) == B::kHeight - 1 || (kIs3d && (k == 0 || k == B::kRun - 1));
    if (inside && !at_end && is_inner(a, x, y_of(k), z_of(k))) moves |= 1u << k;
    box[first + k * B::kStep] = own[k];
  }
  // Neighbours in the box; at its ends, where nothing moves, the element itself.
  const int left = col > 0 ? -1 : 0, right = col < B::kWidth - 1 ? 1 : 0;
  const int back = kIs3d && row > 0 ? -B::kWidth : 0;
  const int front = kIs3d && row < B::kHeight - 1 ? B::kWidth : 0;
  const int above = !kIs3d && row > 0 ? -B::kStep : 0;
  const int below = !kIs3d && row < B::kThreads / B::kWidth - 1 ? B::kStep : 0;
  for (int s = 0; s < steps; ++s) {
    __syncthreads();
    float before = box[first + above];
    const float behind = box[first + (B::kRun - 1) * B::kStep + below];
#pragma unroll
    for (int k = 0; k < B::kRun; ++k) {
      const float* const at = box + first + k * B::kStep;
      const float along = before + (k + 1 < B::kRun ? own[k + 1 < B::kRun ? k + 1 : k] : behind);
      const float beside = at[left] + at[right];
      const float mean =
          kIs3d ? mean_of(a, beside + at[back] + at[front], along) : mean_of(a, along + beside, 0);
      before = own[k];
      if (moves >> k & 1) own[k] = mean;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < B::kRun; ++k) box[first + k * B::kStep] = own[k];
  }
  if (col < B::kSteps || col >= B::kWidth - B::kSteps || x >= a.width) return;
#pragma unroll
  for (int k = 0; k < B::kRun; ++k) {
    const bool is_mine = box_y(k) >= B::kSteps && box_y(k) < B::kHeight - B::kSteps &&
                         (!kIs3d || (k >= B::kSteps && k < B::kRun - B::kSteps));
    if (is_mine && y_of(k) < a.height && z_of(k) < a.depth) to[index(k)] = own[k];
  }
}

template <bool kIs3d>
Tiles tiles_in(const Args& a) {
  using B = Box<kIs3d>;
  return tiles_of(a, B::kTileWidth, B::kTileHeight, B::kTileDepth);
}
static Tiles tiles(const Args& a) { return a.is_3d ? tiles_in<true>(a) : tiles_in<false>(a); }
static int most_steps(const Args& a) { return a.is_3d ? Box<true>::kSteps : Box<false>::kSteps; }
static Support supports(const Args& a, const DeviceInfo&) { return supports_tiles(tiles(a)); }
static size_t workspace(const Args& a, const DeviceInfo&) { return turns_bytes(a, most_steps(a)); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Tiles t = tiles(a);
  return in_turns(a, most_steps(a), stream, [&](const float* from, float* to, int steps) {
    const auto kernel = a.is_3d ? jacobi_temporal<true> : jacobi_temporal<false>;
    const int threads = a.is_3d ? Box<true>::kThreads : Box<false>::kThreads;
    kernel<<<unsigned(t.count), threads, 0, stream>>>(a, t, from, to, steps);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const int size = a.is_3d ? Box<true>::kSize : Box<false>::kSize;
  const double launches = std::ceil(double(a.iterations) / most_steps(a));
  const double updates = double(a.iterations) * double(tiles(a).count) * size;
  return launches * streaming_us(kTuned, bytes(a), device) +
         updates / (kUpdatesPerUs * device.sm_count) + kTuned.fixed_us;
}
constinit const Rung rung = {.idea = "several iterations on a tile in registers",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::jacobi::temporal
