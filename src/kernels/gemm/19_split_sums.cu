// gemm rung 19, split_sums: the sums of the last turn of tiles are cut, so that no SM is idle.
//
// Since 18_autotuned: tiles that fill all SMs stay whole. Those of the last turn, which is the only
//   one if tiles are few, are cut along k into parts. Every part is a block, which leaves its
//   partial sums in the workspace. A second kernel adds them, always in the order of k: results do
//   not change from run to run.
// Stops at: the multiply-adds, and the traffic of partial sums, which are written and read once.
// Not for: products whose tiles fill whole turns; sums of few steps.
#include "kernels/gemm/simt_ring.cuh"

namespace ridge::gemm::split_sums {

using namespace simt;

constexpr int kParts[] = {2, 3, 4, 8, 16, 32};
// All parts of a tile, then those of the next.
#define RIDGE_PARTS(name) name "/2", name "/3", name "/4", name "/8", name "/16", name "/32"
constexpr const char* kNames[] = {RIDGE_PARTS("256x128"), RIDGE_PARTS("128x256"),
                                  RIDGE_PARTS("64x128"), RIDGE_PARTS("64x64")};
#undef RIDGE_PARTS
constexpr int kPartsCount = int(std::size(kParts));
static_assert(std::size(kNames) == std::tuple_size_v<RingTiles> * kPartsCount);

template <class S>
int64_t slots_of(const DeviceInfo& device) {
  return int64_t(S::kBlocksPerSm) * device.sm_count;
}
template <class S>
Division cut_of(const Args& args, const DeviceInfo& device, int variant) {
  const int64_t tiles = args.batch * tiles_of(args.m, S::kRows) * tiles_of(args.n, S::kCols);
  const int64_t slots = slots_of<S>(device);
  return division_of<S>(args, tiles / slots * slots, kParts[variant % kPartsCount]);
}

static double variant_cost(const Args& args, const DeviceInfo& device, int variant) {
  return of_variant<RingTiles>(variant / kPartsCount, [&]<class S>(S) {
    const Division division = cut_of<S>(args, device, variant);
    const int64_t pieces = pieces_of(args, division), slots = slots_of<S>(device);
    // Many small pieces have not been measured; they would also take a large workspace.
    const int64_t most = division.whole > 0 ? slots + slots / 8 : 2 * slots;
    return pieces > 0 && pieces <= most
               ? ring_us<S>(args, division, kRingPaces[variant / kPartsCount], device)
               : kNever;
  });
}
static double cost(const Args& args, const DeviceInfo& device) {
  return least_cost(args, device, kNames, variant_cost);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_ring(a, device); !s) return s;
  return cost(a, device) < kNever ? kSupported : "there is no last turn of tiles to cut";
}

// Partial sums lie behind the copies of the operands, at a cache line.
constexpr size_t kLine = size_t(aligned_copy::kCacheLine);
template <class S>
size_t bytes_of(const Args& args, const Division& division) {
  const size_t partial = workspace_of<S>(args, division);
  return AlongWidth(args).bytes() + (partial > 0 ? kLine + partial : 0);
}
static size_t workspace(const Args& args, const DeviceInfo& device) {
  const int variant = chosen_variant(args, device, kNames, variant_cost);
  return of_variant<RingTiles>(variant / kPartsCount, [&]<class S>(S) {
    return bytes_of<S>(args, cut_of<S>(args, device, variant));
  });
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  const int variant = chosen_variant(args, device, kNames, variant_cost);
  return of_variant<RingTiles>(variant / kPartsCount, [&]<class S>(S) -> Status {
    const Division division = cut_of<S>(args, device, variant);
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
    return launch_ring<S>(product, division, stream);
  });
}
constinit const Rung rung = {.idea = "the sums of the last turn of tiles cut in parts",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .variants = kNames,
                             .variant_cost = variant_cost,
                             .claims = {.barriers = 1, .conflict_free = true}};

}  // namespace ridge::gemm::split_sums
