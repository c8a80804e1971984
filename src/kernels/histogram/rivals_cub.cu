#include <cub/device/device_histogram.cuh>

#include "harness/rivals/cub.cuh"

namespace ridge::histogram {
namespace {

using namespace rivals;

// CUB's counters are u32 as ours are; it takes 65536 bins, too.
cudaError_t run(void* memory, size_t& bytes, const Call& call, cudaStream_t stream) {
  const auto bins = int(call.size("bins"));
  auto* const counts = data_of<uint32_t>(call, "counts");
  const auto n = call["x"].elements();
  const auto counted = [&](auto type, auto lower, auto upper) {
    using T = decltype(type);
    return cub::DeviceHistogram::HistogramEven(memory, bytes, data_of<const T>(call, "x"), counts,
                                               bins + 1, lower, upper, n, stream);
  };
  switch (call["x"].dtype) {
    case Dtype::u8: return counted(uint8_t(), 0, bins);
    case Dtype::u32: return counted(uint32_t(), uint32_t(0), uint32_t(bins));
    default: return counted(float(), float(call.number("lower")), float(call.number("upper")));
  }
}

std::string refuses(const Call& call) {
  if (call["x"].elements() == 0) return "CUB leaves the counts of nothing as they were";
  return needs_contiguous(call);
}

}  // namespace

void rivals_cub(const OperatorDef&, Rivals& rivals) { rivals.push_back(cub_rival(refuses, run)); }

}  // namespace ridge::histogram
