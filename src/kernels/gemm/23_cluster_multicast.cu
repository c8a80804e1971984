// gemm rung 23, cluster_multicast: two blocks below each other share the tiles of b.
//
// Since 22_persistent: the two blocks of a cluster make tiles of the same columns, so they need the
//   same tile of b. Each asks for half of it, and the copy engine writes it into the shared memory
//   of both. Reads of b from the L2 cache are halved, and of the three sixths that a step needs, a
//   block asks for two. A stage is free when the consumers of both blocks have read it.
// Stops at: the stores. The sums go to d in pieces of 4 bytes per lane, 16 bytes together, while
//   the tensor cores wait. At 4096 x 4096 x 4096 on an H200, sharing alone gains nothing.
// Not for: d with one row of tiles, where the second block has nothing to do.
#include "kernels/gemm/ring_of_tiles.cuh"

namespace ridge::gemm::cluster_multicast {

using namespace hopper;
using T = __nv_bfloat16;

using Shape = LessonShape<2>;

template <class A, class B>
__global__ void __launch_bounds__(kRingThreads, 1)
    gemm_cluster_multicast(const __grid_constant__ Maps maps, const Args args) {
  auto& ring = aligned_shared<RingOfTiles<Shape>>();
  init<Shape>(ring);
  const Tiles<Shape> tiles(args);
  const int rank = int(cluster_rank());
  const int first = int(blockIdx.x) / Shape::kCluster, step = int(gridDim.x) / Shape::kCluster;
  Place<Shape> place;
  const int warpgroup = warpgroup_index();
  if (warpgroup == 0) {
    ptx::give_up_registers<40>();
    if (threadIdx.x == 0)
      for (int i = first; i < tiles.all; i += step)
        produce<A, B>(ring, maps, tiles.in_rows(i, rank), {0, int(args.k)}, place);
  } else {
    ptx::ask_for_registers<232>();
    const int row = (warpgroup - 1) * kRows;
    for (int i = first; i < tiles.all; i += step) {
      const TileAt tile = tiles.in_rows(i, rank);
      Sums<Shape> sums;
      consume<T, A, B>(ring, row, {0, int(args.k)}, place, sums);
      put_sums<T>(args, {tile.row + row, tile.col, tile.batch}, sums.of[0]);
    }
  }
  leave<Shape>();
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_lesson(a, device);
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  return with_majors(args, [&](auto a, auto b) -> Status {
    using A = WgmmaOperand<Shape::kTileRows, decltype(a)::value>;
    using B = WgmmaOperand<Shape::kCols / Shape::kCluster, decltype(b)::value>;
    const auto maps = make_maps<A, B>(args);
    if (!maps) return maps.error();
    return launch_ring<Shape>(gemm_cluster_multicast<A, B>, args, device.sm_count,
                              kSharedBytes<RingOfTiles<Shape>>, stream, *maps);
  });
}
constinit const Rung rung = {.idea = "two blocks share the tiles of b, by multicast",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::gemm::cluster_multicast
