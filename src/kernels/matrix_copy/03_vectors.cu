// matrix_copy rung 03, vectors: each load brings 16 bytes.
//
// Since 02_tiled: one load of a thread brings as many bytes as four did, without a barrier; and
//   rows that follow each other without a gap are treated as one row. If input and output are not
//   equally far from a 16-byte boundary, a pack is shifted together from two, so that stores stay
//   whole.
// Stops at: HBM.
// Not for: a copy that another kernel could make itself: the cheapest copy is the one not made.
#include "device/byte_map.cuh"
#include "device/raw.cuh"
#include "kernels/matrix_copy/matrix_copy.h"
#include "select/select.h"

namespace ridge::matrix_copy::vectors {

constexpr Tuned kTuned = {2.0, 0.91};

struct Same {
  __device__ uint32_t operator()(uint32_t bits) const { return bits; }
};

static Support supports(const Args& a, const DeviceInfo&) {
  return has_raw_type(a.dtype) ? kSupported : "copies elements of 1, 2 or 4 bytes";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  const auto size = int64_t(size_of(a.dtype));
  const ByteMap m = {a.in, a.out, a.in_stride * size, a.out_stride * size, a.rows, a.cols * size};
  return with_raw_type(a.dtype,
                       [&](auto t) { return launch_byte_map<decltype(t)>(m, Same(), stream); });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load, one pack per thread",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::matrix_copy::vectors
