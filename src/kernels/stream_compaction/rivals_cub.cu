#include <cub/device/device_select.cuh>

#include "harness/rivals/cub.cuh"

namespace ridge::stream_compaction {
namespace {

using namespace rivals;

cudaError_t run(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  const auto selected = [&](auto type) {
    using T = decltype(type);
    return cub::DeviceSelect::Flagged(
        memory, bytes, data_of<const T>(call, "x"), data_of<const uint8_t>(call, "flags"),
        data_of<T>(call, "out"), data_of<int64_t>(call, "count"), call["x"].elements(), stream);
  };
  switch (size_of(call["x"].dtype)) {
    case 1: return selected(uint8_t());
    case 2: return selected(uint16_t());
    default: return selected(uint32_t());
  }
}

}  // namespace

void rivals_cub(const OperatorDef&, Rivals& rivals) {
  rivals.push_back(cub_rival(needs_contiguous, run));
}

}  // namespace ridge::stream_compaction
