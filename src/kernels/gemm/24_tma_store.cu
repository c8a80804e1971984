// gemm rung 24, tma_store: results go through shared memory, and the copy engine stores them.
//
// Since 23_cluster_multicast: a warpgroup writes its sums to shared memory in pieces of 64 rows by
//   128 bytes, with stmatrix, which puts 8 x 8 matrices from registers into rows, and with the
//   swizzle, so without bank conflicts. One thread asks the copy engine to store each piece; while
//   it does, the next piece is written. Rows leave in whole lines of 128 bytes, and what lies
//   outside of d is left out by the copy engine.
// Stops at: the L2 cache, for large matrices. Tiles are made row by row, so the clusters at work
//   read few rows of a, but all of b.
// Not for: d whose rows are not at multiples of 16 bytes.
#include "kernels/gemm/ring_of_tiles.cuh"
#include "kernels/gemm/stored_by_tma.cuh"

namespace ridge::gemm::tma_store {

using namespace hopper;
using T = __nv_bfloat16;

using Shape = LessonShape<2>;

struct Shared {
  RingOfTiles<Shape> ring;
  Pieces<128> pieces[Shape::kConsumers];
};

template <class A, class B>
__global__ void __launch_bounds__(kRingThreads, 1)
    gemm_tma_store(const __grid_constant__ Maps maps, const __grid_constant__ CUtensorMap map_d,
                   const Args args) {
  Shared& shared = aligned_shared<Shared>();
  init<Shape>(shared.ring);
  const Tiles<Shape> tiles(args);
  const int rank = int(cluster_rank());
  const int first = int(blockIdx.x) / Shape::kCluster, step = int(gridDim.x) / Shape::kCluster;
  Place<Shape> place;
  const int warpgroup = warpgroup_index();
  if (warpgroup == 0) {
    ptx::give_up_registers<40>();
    if (threadIdx.x == 0)
      for (int i = first; i < tiles.all; i += step)
        produce<A, B>(shared.ring, maps, tiles.in_rows(i, rank), {0, int(args.k)}, place);
  } else {
    ptx::ask_for_registers<232>();
    const int row = (warpgroup - 1) * kRows;
    StoreByTma store(shared.pieces[warpgroup - 1], warpgroup);
    for (int i = first; i < tiles.all; i += step) {
      const TileAt tile = tiles.in_rows(i, rank);
      Sums<Shape> sums;
      consume<T, A, B>(shared.ring, row, {0, int(args.k)}, place, sums);
      store.put<T>(args, &map_d, {tile.row + row, tile.col, tile.batch}, sums.of[0]);
    }
    store.end();
  }
  leave<Shape>();
}

static Support supports(const Args& a, const DeviceInfo& device) {
  const Support operands = supports_lesson(a, device);
  return operands ? supports_stores(a) : operands;
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  return with_majors(args, [&](auto a, auto b) -> Status {
    using A = WgmmaOperand<Shape::kTileRows, decltype(a)::value>;
    using B = WgmmaOperand<Shape::kCols / Shape::kCluster, decltype(b)::value>;
    const auto maps = make_maps<A, B>(args);
    if (!maps) return maps.error();
    const auto map_d = map_of_results<128>(args);
    if (!map_d) return map_d.error();
    return launch_ring<Shape>(gemm_tma_store<A, B>, args, device.sm_count, kSharedBytes<Shared>,
                              stream, *maps, *map_d);
  });
}
constinit const Rung rung = {.idea = "results through shared memory, stored by the copy engine",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 0}};

}  // namespace ridge::gemm::tma_store
