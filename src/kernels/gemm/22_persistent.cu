// gemm rung 22, persistent: as many blocks as SMs, each of which makes one tile after another.
//
// Since 21_producer_consumer: the producer goes on to the next tile while the consumers store the
//   results of this one, so the stages are full when they come back. A launch starts 132 blocks
//   instead of thousands.
// Stops at: the L2 cache. Every block reads its own tiles of a and b, although its neighbours read
//   the same ones at the same time.
// Not for: products with fewer tiles than SMs, for which nothing changes.
#include "kernels/gemm/ring_of_tiles.cuh"

namespace ridge::gemm::persistent {

using namespace hopper;
using T = __nv_bfloat16;
using Shape = LessonShape<1>;

template <class A, class B>
__global__ void __launch_bounds__(kRingThreads, 1)
    gemm_persistent(const __grid_constant__ Maps maps, const Args args) {
  auto& ring = aligned_shared<RingOfTiles<Shape>>();
  init<Shape>(ring);
  const Tiles<Shape> tiles(args);
  Place<Shape> place;  // goes on from tile to tile
  const int warpgroup = warpgroup_index();
  if (warpgroup == 0) {
    ptx::give_up_registers<40>();
    if (threadIdx.x == 0)
      for (int i = int(blockIdx.x); i < tiles.all; i += int(gridDim.x))
        produce<A, B>(ring, maps, tiles.in_rows(i, 0), {0, int(args.k)}, place);
  } else {
    ptx::ask_for_registers<232>();
    const int row = (warpgroup - 1) * kRows;
    for (int i = int(blockIdx.x); i < tiles.all; i += int(gridDim.x)) {
      const TileAt tile = tiles.in_rows(i, 0);
      Sums<Shape> sums;
      consume<T, A, B>(ring, row, {0, int(args.k)}, place, sums);
      put_sums<T>(args, {tile.row + row, tile.col, tile.batch}, sums.of[0]);
    }
  }
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_lesson(a, device);
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  return with_majors(args, [&](auto a, auto b) -> Status {
    using A = WgmmaOperand<Shape::kTileRows, decltype(a)::value>;
    using B = WgmmaOperand<kCols, decltype(b)::value>;
    const auto maps = make_maps<A, B>(args);
    if (!maps) return maps.error();
    return launch_ring<Shape>(gemm_persistent<A, B>, args, device.sm_count,
                              kSharedBytes<RingOfTiles<Shape>>, stream, *maps);
  });
}
constinit const Rung rung = {.idea = "one block per SM makes many tiles, without a pause",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 1}};

}  // namespace ridge::gemm::persistent
