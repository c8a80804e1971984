// gemm rung 19, split_sums: the last turn of tiles is dealt evenly, so that no SM is idle.
//
// Since 18_autotuned: tiles that fill all SMs stay whole. The steps of those of the last turn,
//   which is the only one if tiles are few, are dealt to as many blocks as the SMs hold at a time,
//   each of which gets the same number of steps, of one tile or of two. (This is known as
//   stream-K.) Blocks leave partial sums in the workspace. A second kernel adds them, always in the
//   order of k: results do not change from run to run.
// Stops at: the multiply-adds, and the traffic of partial sums, which are written and read once.
// Not for: products whose tiles fill whole turns; sums of few steps.
#include "kernels/gemm/simt_ring.cuh"

namespace ridge::gemm::split_sums {

using namespace simt;

// Sizes of tiles, and how many workers an SM has.
struct Deals {
  int tile, per_sm;
};
constexpr Deals kDeals[] = {{0, 1}, {1, 1}, {2, 2}, {2, 4}, {3, 4}, {3, 8}};
constexpr const char* kNames[] = {"256x128",     "128x256",    "64x128 by 2",
                                  "64x128 by 4", "64x64 by 4", "64x64 by 8"};
static_assert(std::size(kNames) == std::size(kDeals));

// Calls f with the shape of the variant's tiles.
template <class F>
auto of_deal(int variant, F f) {
  return of_variant<RingTiles>(kDeals[variant].tile, f);
}
template <class S>
Division dealt(const Args& args, const DeviceInfo& device, int variant) {
  const int64_t slots = int64_t(S::kBlocksPerSm) * device.sm_count;
  const int64_t whole = tiles_of_all<S>(args) / slots * slots;
  const int64_t cut = tiles_of_all<S>(args) - whole;
  const int most = kDeals[variant].per_sm * device.sm_count;
  // Where it leaves few workers out, each has a part of one tile: there are fewer partial sums.
  const int64_t even = cut > 0 ? most / cut * cut : 0;
  return dealt_tiles<S>(args, whole, 20 * even >= 19 * most ? int(even) : most);
}

static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return of_deal(variant, [&]<class S>(S) {
    const Division division = dealt<S>(args, device, variant);
    // A share lies in two tiles at most.
    const bool fits =
        division.cut > 0 && division.workers > 0 && division.longest_share() <= division.steps;
    return fits ? ring_us<S>(args, division, kRingPaces[kDeals[variant].tile], device) : kNever;
  });
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_ring(a, device); !s) return s;
  return cost(a, device) < kNever ? kSupported : "there is no last turn of tiles to deal";
}

// Partial sums lie behind the copies of the operands, at a cache line.
constexpr size_t kLine = size_t(aligned_copy::kCacheLine);
template <class S>
size_t bytes_of(const Args& args, const Division& division) {
  const size_t partial = workspace_of<S>(division);
  return AlongWidth(args).bytes() + (partial > 0 ? kLine + partial : 0);
}
static size_t workspace(const Args& args, const DeviceInfo& device) {
  const int variant = chosen_variant(args, device, kNames, variant_cost);
  return of_deal(variant,
                 [&]<class S>(S) { return bytes_of<S>(args, dealt<S>(args, device, variant)); });
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  const int variant = chosen_variant(args, device, kNames, variant_cost);
  return of_deal(variant, [&]<class S>(S) -> Status {
    const Division division = dealt<S>(args, device, variant);
    if (const size_t wanted = bytes_of<S>(args, division); args.workspace_bytes < wanted)
      return Error{int(cudaErrorInvalidValue),
                   "the workspace has " + std::to_string(args.workspace_bytes) +
                       " bytes, but copies of the operands and partial sums take " +
                       std::to_string(wanted)};
    const AlongWidth along(args);
    if (const Status s = along.copy(stream); !s) return s;
    Args product = along.args();
    auto at = reinterpret_cast<uintptr_t>(product.workspace);
    product.workspace = reinterpret_cast<void*>(at + -at % kLine);
    return launch_ring<S, Deal::shares>(product, division, stream);
  });
}
constinit const Rung rung = {.idea = "the last turn of tiles dealt evenly to all SMs",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::gemm::split_sums
