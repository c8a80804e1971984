// gemm rung 32, tf32_wgmma: f32 by Hopper's tensor cores, as rung 26 multiplies 16 bits.
//
// Since 31_tf32_mma_sync: wgmma on tiles that the copy engine brings, in the kernel of rung 26.
//   What differs: a step is 32 levels deep, and the copy engine rounds elements to tf32 on their
//   way. In 32 bits, wgmma takes a factor from shared memory only if its depth is contiguous. The
//   other factor comes from registers where it lies along its rows (tf32_from_registers.cuh). If
//   a's depth is contiguous, and b's is not, the product is made transposed. Only if neither is,
//   one of the two is turned first (depth_copy.cuh).
// Stops at: the tensor cores, at the clock that their power leaves them.
// Not for: products that need more than the 11 significant bits of tf32.
#include "kernels/gemm/depth_copy.cuh"
#include "kernels/gemm/tiles_in_turn.cuh"

namespace ridge::gemm::tf32_wgmma {

using namespace hopper;

// Columns, stages, blocks that share b.
template <int kCols, int kStages, int kCluster>
struct Tile {
  template <bool kTransposed>
  using Variant = TileVariant<kCols, 64, false, kStages, kCluster, kTransposed, sizeof(float)>;
};
using Variants = std::tuple<Tile<256, 4, 2>, Tile<128, 6, 2>, Tile<128, 6, 1>>;
constexpr const char* kNames[] = {"128x256 pairs", "128x128 pairs", "128x128"};
// Microseconds on an H200: of a launch, of 32 levels of a tile, of a tile's start and end.
constexpr TunedVariants kTuned("gemm", "tf32_wgmma", kNames,
                               {{{5.0, 0.69, 3.0}, {5.0, 0.37, 2.0}, {4.8, 0.38, 2.0}}});

// Calls f with the tile of a variant, as the call takes it.
template <class F>
auto of_tile(int variant, bool is_transposed, F f) {
  return of_variant<Variants>(variant, [&]<class T>(T) {
    return is_transposed ? f(typename T::template Variant<true>())
                         : f(typename T::template Variant<false>());
  });
}

static Terms variant_terms(const Args& args, const DeviceInfo& device, int variant) {
  const AlongDepth along(args);
  return of_tile(variant, along.is_transposed(), [&]<class V>(V) {
    const double at_once = std::max(device.sm_count / V::kCluster, 1);
    const double turns = std::ceil(double(Tiles<V>(along.product()).all) / at_once);
    const double steps = double(tiles_of(args.k, kLineBytes / V::kElementBytes));
    return Terms{.counts = {1, turns * steps, turns},
                 .memory_us = streaming_us({0, 0.7}, bytes(args), device),
                 .besides_us = along.copies_us(device)};
  });
}
static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return predicted_us(variant_terms(args, device, variant), kTuned.of(device, variant));
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static size_t workspace(const Args& args, const DeviceInfo&) { return AlongDepth(args).bytes(); }

template <class V, class A, Stores kStores>
Status launch_tiles(const Args& product, const Args& args, const DeviceInfo& device,
                    cudaStream_t stream) {
  using B = WgmmaOperand<V::kCols / V::kCluster, Contiguous::depth, V::kElementBytes>;
  const auto maps = make_maps<A, B>(product);
  if (!maps) return maps.error();
  const auto map_d = [&]() -> Expected<CUtensorMap> {
    if constexpr (kStores == Stores::by_tma)
      return map_of_results<V::kPieceBytes, V::kPieceRows>(args);
    else return CUtensorMap();
  }();
  if (!map_d) return map_d.error();
  const Tiles<V> tiles(product);
  const int clusters = std::min(tiles.all, std::max(device.sm_count / V::kCluster, 1));
  return launch_kernel<Begins::early>(
      gemm_tiles<float, V, A, B, kStores>, unsigned(clusters * V::kCluster), kRingThreads,
      V::kCluster, kSharedBytes<TileShared<V>>, stream, *maps, *map_d, args, tiles);
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  const AlongDepth along(args);
  if (const Status s = along.copy(stream); !s) return s;
  const Args& product = along.product();
  const bool by_tma = args.beta == 0 && reaches_results(args);
  const int variant = chosen_variant(args, device, kNames, variant_cost);
  return of_tile(variant, along.is_transposed(), [&]<class V>(V) {
    const auto with_stores = [&]<class A>(A) {
      return by_tma ? launch_tiles<V, A, Stores::by_tma>(product, args, device, stream)
                    : launch_tiles<V, A, Stores::by_lanes>(product, args, device, stream);
    };
    using Turned = WgmmaOperand<V::kTileRows, Contiguous::width, V::kElementBytes>;
    using Straight = WgmmaOperand<V::kTileRows, Contiguous::depth, V::kElementBytes>;
    // If both lie right, the product is not made transposed.
    if constexpr (!V::kTransposed)
      if (!operand_a(product).is_turned()) return with_stores(Straight());
    return with_stores(Turned());
  });
}
constinit const Rung rung = {.idea = "tf32 by wgmma, a factor that lies wrong through registers",
                             .supports = supports_tf32,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .variant_terms = variant_terms,
                             .claims = {.global_stores_per_element = 0}};

}  // namespace ridge::gemm::tf32_wgmma
