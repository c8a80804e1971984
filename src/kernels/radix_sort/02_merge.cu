// radix_sort rung 02, merge: blocks sort tiles, then pairs of sorted runs are merged.
//
// Since 01_block_bitonic: any number of keys, and all SMs work. A merge needs no barrier: each key
//   finds by bisection how many keys of the other run come before it, and so knows its place.
// Stops at: HBM and bisections. 2^26 keys take 15 merges, each of which moves all keys and reads
//   some 20 more for each.
// Not for: long inputs: radix passes are four, however long the input is.
#include "kernels/radix_sort/order.cuh"

namespace ridge::radix_sort::merge {

constexpr int kThreads = 256;

template <bool kPairs>
__global__ void __launch_bounds__(kBlockThreads) sort_tiles(Args a, Order order) {
  __shared__ SortKey keys[kBlockTile];
  const int64_t first = int64_t(blockIdx.x) * kBlockTile;
  write_block_sorted<kPairs>(a, order, first, int(min(int64_t(kBlockTile), a.n - first)), keys);
}

// Of the sorted keys [first, last), those that come before `bound`; with_equal: or are equal to it.
__device__ int64_t before(const uint32_t* keys, int64_t first, int64_t last, uint32_t bound,
                          bool with_equal, const Order& order) {
  const int64_t begin = first;
  while (first < last) {
    const int64_t middle = (first + last) / 2;
    const uint32_t there = order(keys[middle]);
    if (there < bound || (with_equal && there == bound)) first = middle + 1;
    else last = middle;
  }
  return first - begin;
}

// From a.keys to a.sorted_keys. Runs of `run` keys are sorted; every other one follows its partner.
template <bool kPairs>
__global__ void __launch_bounds__(kThreads) merge_runs(Args a, Order order, int64_t run) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.n) return;
  const int64_t pair = i / (2 * run) * (2 * run);
  const int64_t middle = min(pair + run, a.n), end = min(pair + 2 * run, a.n);
  const bool is_second = i >= middle;
  const uint32_t key = a.keys[i], bound = order(key);
  // Equal keys of the first run come before those of the second.
  const int64_t others = is_second ? before(a.keys, pair, middle, bound, true, order)
                                   : before(a.keys, middle, end, bound, false, order);
  const int64_t to = (is_second ? pair + (i - middle) : i) + others;
  a.sorted_keys[to] = key;
  if (kPairs) a.sorted_values[to] = a.values[i];
}

static size_t workspace(const Args& a, const DeviceInfo&) {
  return size_t(a.n) * (has_values(a) ? 8 : 4);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  int merges = 0;
  for (int64_t run = kBlockTile; run < a.n; run *= 2) ++merges;
  // In turns between the workspace and the result, so that the last step ends in the result.
  uint32_t* const spare = static_cast<uint32_t*>(a.workspace);
  Args step = a;
  const auto turn = [&](int left) {
    const bool to_result = left % 2 == 0;
    step.sorted_keys = to_result ? a.sorted_keys : spare;
    step.sorted_values = to_result ? a.sorted_values : spare + a.n;
  };
  turn(merges);
  return with_values(a, [&](auto pairs) {
    const Order order(a);
    sort_tiles<pairs.value>
        <<<unsigned((a.n + kBlockTile - 1) / kBlockTile), kBlockThreads, 0, stream>>>(step, order);
    for (int64_t run = kBlockTile; run < a.n; run *= 2) {
      step.keys = step.sorted_keys;
      step.values = step.sorted_values;
      turn(--merges);
      merge_runs<pairs.value>
          <<<unsigned((a.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(step, order, run);
    }
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "sorted tiles, merged pair by pair",
    .supports = sorts,
    .launch = launch,
    .workspace = workspace,
    .claims = {.global_loads_per_element = 2, .global_stores_per_element = 1}};

}  // namespace ridge::radix_sort::merge
