// adamw rung 02, vectors: each load brings 16 bytes.
//
// Since 01_thread_per_element: a thread has four loads of 16 bytes under way instead of four of 4
//   bytes. In bf16 it loads 8 bytes, so that the accesses of a warp to the f32 states leave no
//   gaps.
// Stops at: HBM, for large tensors; the launches, if there are many small tensors.
// Not for: hundreds of small tensors, whose launches take longer than their bytes (03).
#include "kernels/adamw/adamw.h"
#include "kernels/adamw/update.cuh"
#include "select/select.h"

namespace ridge::adamw::vectors {

constexpr Tuned kTuned = {2.0, 0.88};  // fixed_us: a tensor

template <class T>
__global__ void __launch_bounds__(kThreads) adamw_vectors(Slots slots, Step step) {
  update_block<T>(slots, blockIdx.x, step);
}

static Support supports(const Args& a, const DeviceInfo&) { return supported(a); }
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Step step(a);
  return with_weight_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    for (const Part& part : a.parts) {
      if (part.n == 0) continue;
      const Slots slots = slots_of<T>(part);
      adamw_vectors<T><<<unsigned(blocks_of(slots)), kThreads, 0, stream>>>(slots, step);
      if (const Status s = launch_status(); !s) return s;
    }
    return Status::ok();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device) + kTuned.fixed_us * (double(a.parts.size()) - 1);
}
constinit const Rung rung = {.idea = "16 bytes per load",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::adamw::vectors
