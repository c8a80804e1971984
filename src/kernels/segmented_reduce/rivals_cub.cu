#include <cub/device/device_segmented_reduce.cuh>

#include "harness/rivals/cub.cuh"

namespace ridge::segmented_reduce {
namespace {

using namespace rivals;

template <class In, class Out, class Offset>
cudaError_t sum_of(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  const auto* const offsets = data_of<const Offset>(call, "offsets");
  return cub::DeviceSegmentedReduce::Sum(memory, bytes, data_of<const In>(call, "x"),
                                         data_of<Out>(call, "out"), call["out"].elements(), offsets,
                                         offsets + 1, stream);
}

cudaError_t sum(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  const bool is_long = call["offsets"].dtype == Dtype::i64;
  const auto run =
      call["x"].dtype == Dtype::i32
          ? (is_long ? sum_of<int32_t, int64_t, int64_t> : sum_of<int32_t, int64_t, int32_t>)
          : (is_long ? sum_of<float, float, int64_t> : sum_of<float, float, int32_t>);
  return run(memory, bytes, call, stream);
}

}  // namespace

void rivals_cub(const OperatorDef& op, Rivals& rivals) {
  if (op.name == "segmented_sum") rivals.push_back(cub_rival(cub_takes("x"), sum));
}

}  // namespace ridge::segmented_reduce
