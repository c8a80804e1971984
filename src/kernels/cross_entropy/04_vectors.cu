// cross_entropy rung 04, vectors: each load brings 16 bytes, and four loads are under way.
//
// Since 03_online: 64 bytes per thread are under way instead of 4 (or 2), and the sum is rescaled
//   once for the packs of a turn, not for each element. Exponentials use the special function unit.
// Stops at: HBM, for the loss alone and for backward alone, which move each byte once. With the
//   gradient, the logits are read twice.
// Not for: rows shorter than the block; few rows, which leave SMs idle (05).
#include "kernels/cross_entropy/packs.cuh"
#include "select/held_rows.h"

namespace ridge::cross_entropy::vectors {

constexpr int kThreads = 512;
constexpr int kPacks = 4;
// As measured for softmax, which moves its bytes in the same way.
constexpr Tuned kTuned = {4.0, 0.85};

template <class T>
__global__ void __launch_bounds__(kThreads) cross_entropy_vectors(Args a) {
  __shared__ float4 partials[kWarpSize];
  const int64_t r = blockIdx.x;
  const Row<T> row(a, r);
  const RowSlots<T> slots = row.slots(a);
  Statistics s;
  if (!a.backward) {
    if (!row.target.is_ignored)
      s = warps_merge(
          lanes_merge(stream_statistics<kThreads, kPacks>(a, row, slots, 0, slots.slots)),
          partials);
    if (threadIdx.x == 0) put_loss(a, r, row, s);
  }
  if (!row.dlogits) return;
  stream_gradient<kThreads, kPacks>(row, slots, Gradient(a, r, row.target, s), 0, slots.slots);
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return around_rows(args, stream, [&](const Args& a) {
    return with_float_type(a.dtype, [&](auto t) {
      cross_entropy_vectors<decltype(t)><<<unsigned(a.rows), kThreads, 0, stream>>>(a);
      return launch_status();
    });
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const int reads = a.dlogits && !a.backward ? 2 : 1;
  return held::rows_us(kTuned, bytes(a, reads), a.rows, double(device.threads_per_sm) / kThreads,
                       device);
}
constinit const Rung rung = {.idea = "16 bytes per load, four loads under way",
                             .supports = supports,
                             .launch = launch,
                             .workspace = scratch_bytes,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::cross_entropy::vectors
