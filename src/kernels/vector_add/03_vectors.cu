// vector_add rung 03, vectors: each load brings 16 bytes.
//
// Since 02_grid_stride: a lane has one pack of each input under way, 32 bytes instead of 8, so
//   fewer warps cover the latency of memory. There are as many threads as packs again, and each is
//   done after one pack: on an H200 that is faster than striding.
// Stops at: HBM.
// Not for: an addition that the previous kernel could make itself: two of three accesses would be
//   saved.
#include "device/map.cuh"
#include "kernels/vector_add/vector_add.h"
#include "select/select.h"

namespace ridge::vector_add::vectors {

constexpr int kUnroll = 1;
constexpr Tuned kTuned = {2.0, 0.91};

struct Add {
  __device__ void operator()(const float (&x)[2], float (&y)[1], int64_t) const {
    y[0] = x[0] + x[1];
  }
};

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "adds f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  const Map<2, 1> m = {.in = {a.a, a.b},
                       .out = {a.out},
                       .in_stride = {a.a_stride, a.b_stride},
                       .out_stride = {a.out_stride},
                       .in_step = {a.a_step, a.b_step},
                       .out_step = {a.out_step},
                       .rows = a.rows,
                       .cols = a.cols};
  return with_float_type(
      a.dtype, [&](auto t) { return launch_map<decltype(t), kUnroll>(m, Add(), stream); });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load, one pack per thread",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::vector_add::vectors
