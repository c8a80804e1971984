// gemm rung 18, autotuned: f32 tiles by the copy engine, in the size that is predicted to be best.
//
// Since 12_cp_async: operands are turned first, if need be, so that neighbours lie along the rows
//   of a and the columns of b, at multiples of 16 bytes (turned_copy.cuh). Then the copy engine of
//   Hopper brings every step to a ring of three stages, and no thread computes an address. Nothing
//   in the loop waits for the whole block: a warp waits for the bytes of its next stage, and a
//   stage is filled again as soon as all warps have read it (simt_ring.cuh). A lane makes 8 by 16
//   results, and its multiply-adds have an order in which their operands come from different
//   register banks (simt_tile.cuh). Each size of tile has a predicted time; the least one is taken.
// Stops at: the multiply-add units, which do 81 % of what they could at 4096 cubed; and the last
//   turn of tiles, which leaves SMs idle (19).
// Not for: small matrices, where the copies take as long as the products (12, 29).
#include "kernels/gemm/simt_ring.cuh"

namespace ridge::gemm::autotuned {

using namespace simt;

constexpr const char* kNames[] = {"256x128", "128x256", "64x128", "64x64"};
static_assert(std::size(kNames) == std::tuple_size_v<RingTiles>);

static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return of_variant<RingTiles>(variant, [&]<class S>(S) {
    return ring_us<S>(args, whole_tiles<S>(args), kRingPaces[variant], device);
  });
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_ring(a, device);
}
static size_t workspace(const Args& args, const DeviceInfo&) { return AlongWidth(args).bytes(); }
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  const AlongWidth along(args);
  if (const Status s = along.copy(stream); !s) return s;
  const int variant = chosen_variant(args, device, kNames, variant_cost);
  return of_variant<RingTiles>(variant, [&]<class S>(S) {
    return launch_ring<S, Deal::whole_tiles>(along.args(), whole_tiles<S>(args), stream);
  });
}
constinit const Rung rung = {
    .idea = "tiles by the copy engine, in the best of four sizes",
    .supports = supports,
    .launch = launch,
    .workspace = workspace,
    .cost = cost,
    .variants = kNames,
    .variant_cost = variant_cost,
    .claims = {.global_stores_per_element = 1.25, .barriers = 1, .conflict_free = true}};

}  // namespace ridge::gemm::autotuned
