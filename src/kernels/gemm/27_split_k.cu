// gemm rung 27, split_k: the blocks of a cluster make one tile, each a part of its sum.
//
// Since 26_tile_sizes: where tiles are few, the sum of a tile is split among up to eight blocks of
//   a cluster, so that more SMs read a and b. Each block leaves its sums in shared memory. Then
//   every block adds up a share of the rows from all of them, always in the same order: results do
//   not change from run to run, and no workspace is needed. If d has few rows, the product is made
//   transposed: the long side of the product then lies along the 64 rows of wgmma, and the few
//   rows of d need 16 of its columns instead of 64 of its rows.
// Stops at: DRAM, where the products per element of a and b are few.
// Not for: large products, whose tiles keep all SMs busy without a split.
#include "kernels/gemm/shared_sum.cuh"

namespace ridge::gemm::split_k {

using namespace hopper;

// Columns, consumers, stages, blocks per SM, whether the product is made transposed.
using Shapes = std::tuple<SharedSum<16, 1, 6, 3, true>, SharedSum<32, 1, 6, 2, true>,
                          SharedSum<64, 1, 6, 2, true>, SharedSum<64, 2, 8, 1, true>,
                          SharedSum<128, 2, 6, 1, false>>;
constexpr const char* kNames[] = {RIDGE_SPLITS("64x16t"), RIDGE_SPLITS("64x32t"),
                                  RIDGE_SPLITS("64x64t"), RIDGE_SPLITS("128x64t"),
                                  RIDGE_SPLITS("128x128")};
static_assert(std::size(kNames) == std::tuple_size_v<Shapes> * kSplitCount);

// Microseconds on an H200: of a launch, which takes longer for larger clusters; of 64 levels of a
// block, by shape. Nothing is known of a block's start and end.
constexpr auto kMeasured =
    constants_of_splits({5.5, 5.5, 5.5, 5.5, 8.0}, {0.23, 0.25, 0.28, 0.36, 0.45});
constexpr TunedVariants kTuned("gemm", "split_k", kNames, kMeasured);

static Terms variant_terms(const Args& args, const DeviceInfo& device, int variant) {
  const int shape = variant / kSplitCount, splits = kSplits[variant % kSplitCount];
  return of_variant<Shapes>(shape, [&]<class V>(V) {
    const Args product = V::kTransposed ? transposed(args) : args;
    if (V::kCols < 64 && operand_b(product).is_turned()) return kImpossible;
    return terms_of_shared_sum<V>(product, device, splits);
  });
}
static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return predicted_us(variant_terms(args, device, variant), kTuned.of(device, variant));
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_operands(a, device);
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  const int variant = chosen_variant(args, device, kNames, variant_cost);
  const int splits = kSplits[variant % kSplitCount];
  return of_variant<Shapes>(variant / kSplitCount, [&]<class V>(V) {
    const Args product = V::kTransposed ? transposed(args) : args;
    return with_majors(product, [&](auto a, auto b) -> Status {
      if constexpr (V::kCols < 64 && decltype(b)::value == Contiguous::width) {
        return Error{int(cudaErrorNotSupported),
                     std::string(kNames[variant]) + " takes a with its depth contiguous only"};
      } else {
        using A = WgmmaOperand<V::kTileRows, decltype(a)::value>;
        using B = WgmmaOperand<V::kCols, decltype(b)::value>;
        const auto maps = make_maps<A, B>(product);
        if (!maps) return maps.error();
        const auto kernel = args.dtype == Dtype::f16 ? gemm_shared_sum<__half, V, A, B>
                                                     : gemm_shared_sum<__nv_bfloat16, V, A, B>;
        const Tiles<V> tiles(product);
        return launch_kernel<Begins::early>(kernel, unsigned(tiles.all * splits), V::kThreads,
                                            splits, kSharedBytes<RingOrSums<V>>, stream, *maps,
                                            args, tiles);
      }
    });
  });
}
constinit const Rung rung = {.idea = "few tiles: blocks of a cluster share a sum",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .variant_terms = variant_terms,
                             .claims = {.barriers = 2}};

}  // namespace ridge::gemm::split_k
