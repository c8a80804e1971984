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
#include "kernels/gemm/hopper.cuh"

namespace ridge::gemm::producer_consumer {

using namespace hopper;
using T = __nv_bfloat16;

constexpr int kConsumers = 2;                            // warpgroups
constexpr int kThreads = (1 + kConsumers) * kWarpgroup;  // the first one produces
constexpr int kTileRows = kConsumers * kRows;
constexpr int kStages = 4;

struct Shared {
  alignas(kAlignment) char a[kStages][kTileRows * kDepth * sizeof(T)];
  alignas(kAlignment) char b[kStages][kCols * kDepth * sizeof(T)];
  Ring<kStages> ring;
};

template <class A, class B>
__device__ __forceinline__ void produce(Shared& shared, const Maps& maps, const TileAt& tile,
                                        int depth, RingPlace<kStages>& place) {
  for (int k = 0; k < depth; k += kDepth, place.advance()) {
    uint64_t* const full = &shared.ring.full[place.stage];
    ptx::mbarrier_wait(&shared.ring.empty[place.stage], place.phase ^ 1);
    ptx::mbarrier_arrive_expect(full, A::kBytes + B::kBytes);
    A::load(shared.a[place.stage], &maps.a, tile.row, k, tile.batch, full);
    B::load(shared.b[place.stage], &maps.b, tile.col, k, tile.batch, full);
  }
}

template <class A, class B>
__device__ __forceinline__ void consume(Shared& shared, int row, int depth,
                                        RingPlace<kStages>& place, float (&sums)[128]) {
  int before = 0;  // the stage of the step before
  const auto release = [&](int stage) {
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(&shared.ring.empty[stage]);
  };
  for (int k = 0; k < depth; k += kDepth, place.advance()) {
    ptx::mbarrier_wait(&shared.ring.full[place.stage], place.phase);
    ptx::wgmma_fence();
    multiply<T, A, B>(shared.a[place.stage], row, shared.b[place.stage], k > 0, sums);
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();
    if (k > 0) release(before);
    before = place.stage;
  }
  ptx::wgmma_wait<0>();
  release(before);
}

template <class A, class B>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_producer_consumer(const __grid_constant__ Maps maps, const Args args) {
  Shared& shared = aligned_shared<Shared>();
  const auto down = unsigned((args.m + kTileRows - 1) / kTileRows);
  const auto across = unsigned((args.n + kCols - 1) / kCols);
  const unsigned of_product = blockIdx.x % (down * across);
  const TileAt tile = {int(of_product / across) * kTileRows, int(of_product % across) * kCols,
                       int(blockIdx.x / (down * across))};
  if (threadIdx.x == 0) shared.ring.init(kConsumers * kWarpgroup / 32);
  __syncthreads();
  RingPlace<kStages> place;
  const int warpgroup = int(threadIdx.x) / kWarpgroup;
  if (warpgroup == 0) {
    ptx::give_up_registers<40>();
    if (threadIdx.x == 0) produce<A, B>(shared, maps, tile, int(args.k), place);
  } else {
    ptx::ask_for_registers<232>();
    const int row = (warpgroup - 1) * kRows;
    float sums[128];
    consume<A, B>(shared, row, int(args.k), place, sums);
    put_sums<T>(args, {tile.row + row, tile.col, tile.batch}, sums);
  }
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_lesson(a, device);
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  return with_majors(args, [&](auto a, auto b) -> Status {
    using A = WgmmaOperand<kTileRows, decltype(a)::value>;
    using B = WgmmaOperand<kCols, decltype(b)::value>;
    const auto maps = make_maps<A, B>(args);
    if (!maps) return maps.error();
    const int64_t tiles = tiles_of(args.m, kTileRows) * tiles_of(args.n, kCols) * args.batch;
    return launch_kernel(gemm_producer_consumer<A, B>, unsigned(tiles), kThreads, 1,
                         kSharedBytes<Shared>, stream, *maps, args);
  });
}
constinit const Rung rung = {.idea = "one warpgroup asks for tiles, two multiply",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 1}};

}  // namespace ridge::gemm::producer_consumer
