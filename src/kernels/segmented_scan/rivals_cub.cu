// CUB starts its segments by keys; of the operators with heads it has no counterpart.
#include <cub/device/device_scan.cuh>

#include "harness/rivals/cub.cuh"

namespace ridge::segmented_scan {
namespace {

using namespace rivals;

cudaError_t inclusive(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  return with_type(call["in"].dtype, [&](auto type) {
    using T = decltype(type);
    return cub::DeviceScan::InclusiveSumByKey(
        memory, bytes, data_of<const int32_t>(call, "keys"), data_of<const T>(call, "in"),
        data_of<T>(call, "out"), call["in"].elements(), cuda::std::equal_to<>(), stream);
  });
}

cudaError_t exclusive(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  return with_type(call["in"].dtype, [&](auto type) {
    using T = decltype(type);
    return cub::DeviceScan::ExclusiveSumByKey(
        memory, bytes, data_of<const int32_t>(call, "keys"), data_of<const T>(call, "in"),
        data_of<T>(call, "out"), call["in"].elements(), cuda::std::equal_to<>(), stream);
  });
}

}  // namespace

void rivals_cub(const OperatorDef& op, Rivals& rivals) {
  if (op.name == "inclusive_scan_by_key") rivals.push_back(cub_rival(cub_takes("in"), inclusive));
  if (op.name == "exclusive_scan_by_key") rivals.push_back(cub_rival(cub_takes("in"), exclusive));
}

}  // namespace ridge::segmented_scan
