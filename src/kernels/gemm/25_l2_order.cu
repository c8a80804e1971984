// gemm rung 25, l2_order: the tiles that are made at the same time form a compact part of d.
//
// Since 24_tma_store: tiles are made in bands of 8 clusters: down the band, then on to the next
//   column. 66 clusters at work need 8 rows of tiles of a and about 8 columns of b, instead of one
//   row and 64 columns, for the same products: what the L2 cache holds is used about eight times
//   before it goes.
// Stops at: the tensor cores' clock, which falls under such a load, and at the last tiles: when
//   fewer tiles than SMs are left, some SMs have nothing to do.
// Not for: products with few tiles, which need a split of the sum or smaller tiles.
#include "kernels/gemm/ring_of_tiles.cuh"
#include "kernels/gemm/stored_by_tma.cuh"

namespace ridge::gemm::l2_order {

using namespace hopper;

using Shape = LessonShape<2>;
constexpr int kBand = 8;  // clusters: 2048 rows

struct Shared {
  RingOfTiles<Shape> ring;
  Pieces<128> pieces[Shape::kConsumers];
};

template <class T, class A, class B>
__global__ void __launch_bounds__(kRingThreads, 1)
    gemm_l2_order(const __grid_constant__ Maps maps, const __grid_constant__ CUtensorMap map_d,
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
        produce<A, B>(shared.ring, maps, tiles.in_bands<kBand>(i, rank), {0, int(args.k)}, place);
  } else {
    ptx::ask_for_registers<232>();
    const int row = (warpgroup - 1) * kRows;
    StoreByTma store(shared.pieces[warpgroup - 1], warpgroup);
    for (int i = first; i < tiles.all; i += step) {
      const TileAt tile = tiles.in_bands<kBand>(i, rank);
      Sums<Shape> sums;
      consume<T, A, B>(shared.ring, row, {0, int(args.k)}, place, sums);
      store.put<T>(args, &map_d, {tile.row + row, tile.col, tile.batch}, sums.of[0]);
    }
    store.end();
  }
  leave<Shape>();
}

static Support supports(const Args& a, const DeviceInfo& device) {
  const Support operands = supports_operands(a, device);
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
    const auto kernel =
        args.dtype == Dtype::f16 ? gemm_l2_order<__half, A, B> : gemm_l2_order<__nv_bfloat16, A, B>;
    return launch_ring<Shape>(kernel, args, device.sm_count, kSharedBytes<Shared>, stream, *maps,
                              *map_d);
  });
}
constinit const Rung rung = {.idea = "tiles made together share rows and columns in L2",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 0}};

}  // namespace ridge::gemm::l2_order
