// radix_sort rung 01, block_bitonic: one block sorts up to 2048 keys in shared memory.
//
// Stops at: barriers and latency: 66 steps one after the other, on one SM.
// Not for: more keys than a block holds. The network compares n log^2 n pairs.
#include "kernels/radix_sort/order.cuh"

namespace ridge::radix_sort::block_bitonic {

template <bool kPairs>
__global__ void __launch_bounds__(kBlockThreads) sort_block_bitonic(Args a, Order order) {
  __shared__ SortKey keys[kBlockTile];
  write_block_sorted<kPairs>(a, order, 0, int(a.n), keys);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (a.n > kBlockTile) return "sorts at most 2048 keys";
  return sorts(a, device);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_values(a, [&](auto pairs) {
    sort_block_bitonic<pairs.value><<<1, kBlockThreads, 0, stream>>>(a, Order(a));
    return launch_status();
  });
}
static double cost(const Args&, const DeviceInfo&) { return 12; }
constinit const Rung rung = {
    .idea = "one block, one bitonic network",
    .supports = supports,
    .launch = launch,
    .cost = cost,
    .claims = {.global_loads_per_element = 2, .global_stores_per_element = 1}};

}  // namespace ridge::radix_sort::block_bitonic
