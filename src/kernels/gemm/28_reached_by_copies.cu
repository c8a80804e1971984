// gemm rung 28, reached_by_copies: matrices that lie askew are copied to where the copy engine
// reaches them.
//
// Since 26_tile_sizes: an operand whose rows are not at multiples of 16 bytes is copied to the
//   workspace, with rows that are, and the product works on the copy (as rung 17 does for
//   mma.sync). If the copy engine cannot reach d, every lane stores its own results, while the
//   other warpgroup multiplies.
// Stops at: what rung 26 stops at; and at DRAM, which the copies take the longer, the fewer
//   products each element has.
// Not for: matrices that the copy engine reaches.
#include "kernels/gemm/aligned_copy.cuh"
#include "kernels/gemm/tiles_in_turn.cuh"

namespace ridge::gemm::reached_by_copies {

using namespace hopper;

// As in rung 26.
using Variants = std::tuple<TileVariant<128, 128, true, 6, 2>, TileVariant<64, 64, true, 12, 1>>;
constexpr const char* kNames[] = {"128x128 pairs", "64x64"};
// Microseconds on an H200 whose other SMs work, too.
constexpr TunedVariants kTuned("gemm", "reached_by_copies", kNames,
                               {{{6.0, 0.345, 2.5}, {5.6, 0.22, 1.0}}});

static Terms variant_terms(const Args& args, const DeviceInfo& device, int variant) {
  const AlignedOperands aligned(args);
  Terms terms = of_variant<Variants>(
      variant, [&]<class V>(V) { return terms_of_tiles<V>(aligned.args(), device); });
  if (aligned.bytes() > 0)
    terms.besides_us += streaming_us({3.0, 0.6}, 2.0 * double(aligned.bytes()), device);
  return terms;
}
static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return predicted_us(variant_terms(args, device, variant), kTuned.of(device, variant));
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_operands(AlignedOperands(a).args(), device);
}
static size_t workspace(const Args& a, const DeviceInfo&) { return AlignedOperands(a).bytes(); }
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  const AlignedOperands aligned(args);
  if (const Status s = aligned.copy(stream); !s) return s;
  return of_variant<Variants>(chosen_variant(args, device, kNames, variant_cost), [&]<class V>(V) {
    return launch_tiles_of<V, Stores::by_lanes>(aligned.args(), device, stream);
  });
}
constinit const Rung rung = {.idea = "matrices that lie askew are copied for the copy engine",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .variant_terms = variant_terms,
                             .claims = {.barriers = 1}};

}  // namespace ridge::gemm::reached_by_copies
