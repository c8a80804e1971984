// gemm rung 34, tf32_split_k: where tiles are few in tf32, the blocks of a cluster share a sum.
//
// Since 32_tf32_wgmma: what rung 27 is to rung 26. A sum is split among up to eight blocks of a
//   cluster, so that more SMs read a and b, and tiles are smaller. One factor comes from registers
//   if it lies along its rows, as in rung 32.
// Stops at: DRAM, where the products per element of a and b are few.
// Not for: large products, whose tiles keep all SMs busy without a split.
#include "kernels/gemm/depth_copy.cuh"
#include "kernels/gemm/shared_sum.cuh"

namespace ridge::gemm::tf32_split_k {

using namespace hopper;

// Columns, consumers, stages, blocks per SM.
template <int kCols, int kConsumers, int kStages, int kBlocks>
struct Shape {
  template <bool kTransposed>
  using Of = SharedSum<kCols, kConsumers, kStages, kBlocks, kTransposed, sizeof(float)>;
};
using Shapes = std::tuple<Shape<32, 1, 6, 2>, Shape<64, 1, 6, 2>, Shape<128, 2, 6, 1>>;
constexpr const char* kNames[] = {RIDGE_SPLITS("64x32"), RIDGE_SPLITS("64x64"),
                                  RIDGE_SPLITS("128x128")};
static_assert(std::size(kNames) == std::tuple_size_v<Shapes> * kSplitCount);

// Microseconds on an H200: of a launch, which takes longer for larger clusters; of 32 levels of a
// block, by shape. Nothing of this rung was measured: they are those of rung 27 for as many bytes,
// with steps a quarter longer, because the model says so of factors that come from registers.
constexpr auto kGuessed = constants_of_splits({5.5, 5.5, 8.0}, {0.31, 0.35, 0.56});
constexpr TunedVariants kTuned("gemm", "tf32_split_k", kNames, kGuessed);

// Calls f with the shape of a variant, as the call takes it.
template <class F>
auto of_shape(int variant, bool is_transposed, F f) {
  return of_variant<Shapes>(variant / kSplitCount, [&]<class S>(S) {
    return is_transposed ? f(typename S::template Of<true>()) : f(typename S::template Of<false>());
  });
}

static Terms variant_terms(const Args& args, const DeviceInfo& device, int variant) {
  const AlongDepth along(args);
  return of_shape(variant, along.is_transposed(), [&]<class V>(V) {
    Terms terms = terms_of_shared_sum<V>(along.product(), device, kSplits[variant % kSplitCount]);
    terms.besides_us = along.copies_us(device);
    return terms;
  });
}
static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return predicted_us(variant_terms(args, device, variant), kTuned.of(device, variant));
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static size_t workspace(const Args& args, const DeviceInfo&) { return AlongDepth(args).bytes(); }

static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  const AlongDepth along(args);
  if (const Status s = along.copy(stream); !s) return s;
  const Args& product = along.product();
  const int variant = chosen_variant(args, device, kNames, variant_cost);
  const int splits = kSplits[variant % kSplitCount];
  return of_shape(variant, along.is_transposed(), [&]<class V>(V) {
    const auto launch_with = [&]<class A>(A) -> Status {
      using B = WgmmaOperand<V::kCols, Contiguous::depth, V::kElementBytes>;
      const auto maps = make_maps<A, B>(product);
      if (!maps) return maps.error();
      const Tiles<V> tiles(product);
      return launch_kernel<Begins::early>(gemm_shared_sum<float, V, A, B>,
                                          unsigned(tiles.all * splits), V::kThreads, splits,
                                          kSharedBytes<RingOrSums<V>>, stream, *maps, args, tiles);
    };
    // If both lie right, the product is not made transposed.
    if constexpr (!V::kTransposed)
      if (!operand_a(product).is_turned())
        return launch_with(WgmmaOperand<V::kTileRows, Contiguous::depth, V::kElementBytes>());
    return launch_with(WgmmaOperand<V::kTileRows, Contiguous::width, V::kElementBytes>());
  });
}
constinit const Rung rung = {.idea = "few tiles in tf32: blocks of a cluster share a sum",
                             .supports = supports_tf32,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .variant_terms = variant_terms,
                             .claims = {.barriers = 2}};

}  // namespace ridge::gemm::tf32_split_k
