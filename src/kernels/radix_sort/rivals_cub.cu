#include <cub/device/device_radix_sort.cuh>

#include "harness/rivals/cub.cuh"

namespace ridge::radix_sort {
namespace {

using namespace rivals;

template <class Key>
cudaError_t sorted(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  using Sort = cub::DeviceRadixSort;
  const auto* const keys = data_of<const Key>(call, "keys");
  auto* const sorted_keys = data_of<Key>(call, "sorted_keys");
  const auto n = call["keys"].elements();
  const bool descending = call.flag("descending");
  constexpr int kBits = 8 * sizeof(Key);
  if (call.op().name == "sort_keys")
    return descending
               ? Sort::SortKeysDescending(memory, bytes, keys, sorted_keys, n, 0, kBits, stream)
               : Sort::SortKeys(memory, bytes, keys, sorted_keys, n, 0, kBits, stream);
  const auto* const values = data_of<const uint32_t>(call, "values");
  auto* const sorted_values = data_of<uint32_t>(call, "sorted_values");
  return descending ? Sort::SortPairsDescending(memory, bytes, keys, sorted_keys, values,
                                                sorted_values, n, 0, kBits, stream)
                    : Sort::SortPairs(memory, bytes, keys, sorted_keys, values, sorted_values, n, 0,
                                      kBits, stream);
}

cudaError_t run(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  switch (call["keys"].dtype) {
    case Dtype::f32: return sorted<float>(memory, bytes, call, stream);
    case Dtype::i32: return sorted<int32_t>(memory, bytes, call, stream);
    default: return sorted<uint32_t>(memory, bytes, call, stream);
  }
}

}  // namespace

void rivals_cub(const OperatorDef&, Rivals& rivals) {
  rivals.push_back(cub_rival(needs_contiguous, run));
}

}  // namespace ridge::radix_sort
