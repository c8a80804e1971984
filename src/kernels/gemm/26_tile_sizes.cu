// gemm rung 26, tile_sizes: a size of tile for every product, and stores behind other products.
//
// Since 25_l2_order: the size of a tile is a parameter: small tiles read their operands more often,
//   but there are more of them, so that all SMs have work. In most variants the two warpgroups
//   alternate: each makes a tile of its own, and while one stores its results, the other one
//   multiplies. The variant is chosen by its predicted time.
// Stops at: the tensor cores where tiles are many; the latency of the first tiles of a and b, and
//   of the last results, where each SM has one tile.
// Not for: sums that are long and results that are few: those need a split of the sum (27).
#include "kernels/gemm/tiles_in_turn.cuh"

namespace ridge::gemm::tile_sizes {

using namespace hopper;

// Columns, rows of a warpgroup, whether warpgroups alternate, stages, blocks that share b, whether
// the product is made transposed.
using Variants =
    std::tuple<TileVariant<256, 64, false, 4, 2>, TileVariant<160, 128, true, 5, 2>,
               TileVariant<144, 128, true, 5, 2>, TileVariant<128, 128, true, 6, 2>,
               TileVariant<112, 128, true, 6, 2>, TileVariant<96, 128, true, 7, 2>,
               TileVariant<128, 64, true, 8, 2>, TileVariant<128, 64, true, 8, 1>,
               TileVariant<64, 64, true, 12, 1>, TileVariant<160, 128, true, 5, 2, true>,
               TileVariant<144, 128, true, 5, 2, true>, TileVariant<112, 128, true, 6, 2, true>,
               TileVariant<96, 128, true, 7, 2, true>>;
constexpr const char* kNames[] = {
    "128x256 pairs", "128x160 pairs", "128x144 pairs", "128x128 pairs", "128x112 pairs",
    "128x96 pairs",  "64x128 pairs",  "64x128",        "64x64",         "160x128 pairs",
    "144x128 pairs", "112x128 pairs", "96x128 pairs"};
// Microseconds on an H200 whose other SMs work, too, as of 2026-11-18: of a launch, of 64 levels of
// a tile, of a tile's start and end.
constexpr TunedVariants kTuned("gemm", "tile_sizes", kNames,
                               {{{5.0, 0.66, 1.6},
                                 {5.0, 0.42, 0.5},
                                 {5.0, 0.39, 0.6},
                                 {5.3, 0.335, 0.7},
                                 {5.0, 0.30, 0.6},
                                 {5.0, 0.27, 0.6},
                                 {5.0, 0.245, 0.6},
                                 {4.6, 0.275, 0.6},
                                 {4.6, 0.21, 0.45},
                                 {5.0, 0.42, 2.0},
                                 {5.0, 0.375, 2.0},
                                 {5.0, 0.30, 2.0},
                                 {5.0, 0.27, 2.0}}});

static Terms variant_terms(const Args& args, const DeviceInfo& device, int variant) {
  return of_variant<Variants>(variant, [&]<class V>(V) { return terms_of_tiles<V>(args, device); });
}
static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return predicted_us(variant_terms(args, device, variant), kTuned.of(device, variant));
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  const Support operands = supports_operands(a, device);
  return operands ? supports_stores(a) : operands;
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  return of_variant<Variants>(chosen_variant(args, device, kNames, variant_cost), [&]<class V>(V) {
    return launch_tiles_of<V, Stores::by_tma>(args, device, stream);
  });
}
constinit const Rung rung = {.idea = "a size of tile for every product; stores behind products",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .variant_terms = variant_terms,
                             .claims = {.global_stores_per_element = 0}};

}  // namespace ridge::gemm::tile_sizes
