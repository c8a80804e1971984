// jacobi rung 02, shared_tile: a tile with a halo of one element is in shared memory.
//
// Since 01_naive: an element is loaded once per tile that needs it, not once per neighbour,
//   whatever the caches do.
// Stops at: instructions, and the barrier between loading and adding; each iteration still reads
//   and writes the memory once.
// Not for: GPUs whose L1 holds three rows of a tile, which are all of today's: the naive rung finds
//   its neighbours there, without a barrier. 03 needs neither.
#include "kernels/jacobi/box.cuh"

namespace ridge::jacobi::shared_tile {

constexpr int kThreads = 256, kWidth = 32;

__global__ void __launch_bounds__(kThreads)
    jacobi_shared_tile(Args a, Tiles tiles, Box b, const float* from, float* to) {
  extern __shared__ float box[];
  const Corner corner = corner_of(tiles);
  load_box<kThreads>(a, b, corner, from, box);
  __syncthreads();
  for (int i = int(threadIdx.x); i < tiles.width * tiles.height * tiles.depth; i += kThreads) {
    const int row = i / kWidth, in_plane = row % tiles.height, plane = row / tiles.height;
    const int64_t x = corner.x + i % kWidth, y = corner.y + in_plane, z = corner.z + plane;
    if (!is_in_grid(a, x, y, z)) continue;
    const int at =
        ((plane + b.halo_z) * b.height + in_plane + b.halo) * b.width + i % kWidth + b.halo;
    to[(z * a.height + y) * a.width + x] = is_inner(a, x, y, z) ? mean_in(a, b, box, at) : box[at];
  }
}

static Tiles tiles(const Args& a) {
  return a.is_3d ? tiles_of(a, kWidth, 8, 4) : tiles_of(a, kWidth, 32, 1);
}
static Support supports(const Args& a, const DeviceInfo&) { return supports_tiles(tiles(a)); }
static size_t workspace(const Args& a, const DeviceInfo&) { return turns_bytes(a, 1); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Tiles t = tiles(a);
  const Box b = box_of(a, t, 1);
  return in_turns(a, 1, stream, [&](const float* from, float* to, int) {
    jacobi_shared_tile<<<unsigned(t.count), kThreads, size_t(b.size) * sizeof(float), stream>>>(
        a, t, b, from, to);
  });
}
constinit const Rung rung = {.idea = "a tile with its halo in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::jacobi::shared_tile
