// gemm rung 21, producer_consumer: one warpgroup only asks for tiles, two only multiply.
//
// Since 20_wgmma_tma: four stages lie between the thread that asks for tiles and the warpgroups
//   that multiply them, each with two barriers: full, when its bytes have arrived, and empty, when
//   both have read it. Nobody waits for the whole block. Two warpgroups share the tile of b, so a
//   block makes 128 by 256 results. A step's products are issued before those of the step before
//   are complete. The producer gives up its registers, which the sums need.
// Stops at: the ends of blocks. Each block fills its stages from nothing, and while it stores its
//   results, no product is made on that SM.
// Not for: sums of a few steps, and matrices that make few tiles of 128 by 256.
#include "kernels/gemm/ring_of_tiles.cuh"

namespace ridge::gemm::producer_consumer {

using namespace hopper;
using T = __nv_bfloat16;
using Shape = LessonShape<1>;

template <class A, class B>
__global__ void __launch_bounds__(kRingThreads, 1)
    gemm_producer_consumer(const __grid_constant__ Maps maps, const Args args) {
  auto& ring = aligned_shared<RingOfTiles<Shape>>();
  init<Shape>(ring);
  const TileAt tile = Tiles<Shape>(args).in_rows(int(blockIdx.x), 0);
  Place<Shape> place;
  const int warpgroup = warpgroup_index();
  if (warpgroup == 0) {
    ptx::give_up_registers<40>();
    if (threadIdx.x == 0) produce<A, B>(ring, maps, tile, {0, int(args.k)}, place);
  } else {
    ptx::ask_for_registers<232>();
    const int row = (warpgroup - 1) * kRows;
    Sums<Shape> sums;
    consume<T, A, B>(ring, row, {0, int(args.k)}, place, sums);
    put_sums<T>(args, {tile.row + row, tile.col, tile.batch}, sums.of[0]);
  }
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_lesson(a, device);
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  return with_majors(args, [&](auto a, auto b) -> Status {
    using A = WgmmaOperand<Shape::kTileRows, decltype(a)::value>;
    using B = WgmmaOperand<kCols, decltype(b)::value>;
    const auto maps = make_maps<A, B>(args);
    if (!maps) return maps.error();
    return launch_ring<Shape>(gemm_producer_consumer<A, B>, args, Tiles<Shape>(args).all,
                              kSharedBytes<RingOfTiles<Shape>>, stream, *maps);
  });
}
constinit const Rung rung = {.idea = "one warpgroup asks for tiles, two multiply",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 1}};

}  // namespace ridge::gemm::producer_consumer
