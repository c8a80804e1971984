#include <cub/device/device_scan.cuh>

#include "harness/rivals/cub.cuh"

namespace ridge::scan {
namespace {

using namespace rivals;

cudaError_t inclusive(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  return with_type(call["in"].dtype, [&](auto type) {
    using T = decltype(type);
    return cub::DeviceScan::InclusiveSum(memory, bytes, data_of<const T>(call, "in"),
                                         data_of<T>(call, "out"), call["in"].elements(), stream);
  });
}

cudaError_t exclusive(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  return with_type(call["in"].dtype, [&](auto type) {
    using T = decltype(type);
    return cub::DeviceScan::ExclusiveSum(memory, bytes, data_of<const T>(call, "in"),
                                         data_of<T>(call, "out"), call["in"].elements(), stream);
  });
}

}  // namespace

void rivals_cub(const OperatorDef& op, Rivals& rivals) {
  if (op.name == "inclusive_scan") rivals.push_back(cub_rival(cub_takes("in"), inclusive));
  if (op.name == "exclusive_scan") rivals.push_back(cub_rival(cub_takes("in"), exclusive));
}

}  // namespace ridge::scan
