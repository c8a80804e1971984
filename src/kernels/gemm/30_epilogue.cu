// gemm rung 30, epilogue: what comes behind the product is done to the sums, before they are
// stored.
//
// Since 26_tile_sizes: bias, scales, an activation, c, the gate of swiglu and the largest number of
//   a row need no pass of their own over d. A warpgroup does all of that in registers, 32 sums of a
//   lane at a time, while the other warpgroup multiplies: the tensor cores do not wait for it. The
//   elements of a bias reach the lanes that need them by shuffles.
// Stops at: what rung 26 stops at. Where sums are short, the epilogue takes longer than the
//   products of the other warpgroup.
// Not for: products that ask for nothing but alpha: the registers that an epilogue takes are better
//   spent otherwise.
#include "kernels/gemm/asked_by_tma.cuh"
#include "kernels/gemm/tiles_in_turn.cuh"

namespace ridge::gemm::epilogue {

using namespace hopper;

using Variants = std::tuple<TileVariant<256, 64, false, 4, 2>, TileVariant<128, 128, true, 6, 2>,
                            TileVariant<64, 64, true, 12, 1>>;
constexpr const char* kNames[] = {"128x256 pairs", "128x128 pairs", "64x64"};
// Microseconds on an H200: those of rung 26, since what is added lies behind products.
constexpr TunedVariants kTuned("gemm", "epilogue", kNames,
                               {{{5.0, 0.66, 4.0}, {5.3, 0.38, 0.7}, {4.6, 0.21, 0.45}}});

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
  if (a.epilogue.is_plain() && a.beta == 0) return "nothing is asked for beside alpha";
  const Support operands = supports_asked(a, device);
  return operands ? reaches_results(a) : operands;
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (const Status cleared = clear_amax(args, stream); !cleared) return cleared;
  if (is_empty(args)) return Status::ok();
  return of_variant<Variants>(chosen_variant(args, device, kNames, variant_cost), [&]<class V>(V) {
    return launch_tiles_of<V, Stores::asked>(args, device, stream);
  });
}
constinit const Rung rung = {.idea = "bias, activation and more, behind products",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .variant_terms = variant_terms,
                             .claims = {.global_stores_per_element = 0}};

}  // namespace ridge::gemm::epilogue
