// cross_entropy rung 05, chunked: several blocks share a row, each with its chunk of the columns.
//
// Since 04_vectors: a chunk leaves its maximum and its sum in memory, and whoever goes on with the
//   row merges those of all its chunks. So few rows fill the device as well as many.
// Stops at: HBM; with the gradient, at reading the logits twice; for small inputs, at the second
//   launch.
// Not for: as many rows as the device has SMs and more.
#include "kernels/cross_entropy/packs.cuh"
#include "select/held_rows.h"

namespace ridge::cross_entropy::chunked {

constexpr int kThreads = 256;
constexpr int kPacks = 4;
constexpr int kTurn = kThreads * kPacks;  // slots
constexpr int kBlocksPerSm = 8;           // that are wanted in all
constexpr int kMostChunks = 1024;         // of a row: each block reads what all of them left
// As measured for softmax; and two launches.
constexpr Tuned kTuned = {6.0, 0.82};

struct Chunks {
  int of_row, slots;  // the slots of each: whole turns
};
static Chunks chunks_of(const Args& a, const DeviceInfo& device) {
  const int64_t turns = std::max<int64_t>((most_slots(a) + kTurn - 1) / kTurn, 1);
  const int64_t wanted = std::clamp<int64_t>(
      (int64_t(kBlocksPerSm) * device.sm_count + a.rows - 1) / std::max<int64_t>(a.rows, 1), 1,
      std::min<int64_t>(turns, kMostChunks));
  const int64_t each = (turns + wanted - 1) / wanted;
  return {int((turns + each - 1) / each), int(each * kTurn)};
}

// Partials are the statistics of a chunk, and the target's logit.
template <class T>
__global__ void __launch_bounds__(kThreads)
    cross_entropy_chunks(Args a, Chunks chunks, float4* partials) {
  __shared__ float4 warps[kWarpSize];
  const int64_t r = blockIdx.x / chunks.of_row;
  const int begin = int(blockIdx.x % chunks.of_row) * chunks.slots;
  const Row<T> row(a, r);
  if (row.target.is_ignored) return;
  const RowSlots<T> slots = row.slots(a);
  const int end = min(begin + chunks.slots, slots.slots);
  const Statistics s = warps_merge(
      lanes_merge(stream_statistics<kThreads, kPacks>(a, row, slots, begin, end)), warps);
  if (threadIdx.x > 0) return;
  // The next launch may overwrite the target's logit before all of its blocks have read it.
  partials[blockIdx.x] = {s.max, s.sum, s.total, row.target_logit};
}

// Losses, by the block of each row's first chunk, and gradients. Without gradients, one block of
// one warp per row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    cross_entropy_merge(Args a, Chunks chunks, const float4* partials) {
  const int64_t r = a.dlogits ? blockIdx.x / chunks.of_row : blockIdx.x;
  const int chunk = a.dlogits ? int(blockIdx.x % chunks.of_row) : 0;
  Row<T> row(a, r, false);
  Statistics s;
  if (!a.backward) {
    if (!row.target.is_ignored) {  // by every warp for itself, so that there is no barrier
      for (int i = int(threadIdx.x) % kWarpSize; i < chunks.of_row; i += kWarpSize) {
        const float4 part = partials[r * chunks.of_row + i];
        const float max = fmaxf(s.max, part.x);
        s = {max, s.sum * max_sum::rescaled(s.max, max) + part.y * max_sum::rescaled(part.x, max),
             s.total + part.z};
      }
      row.set_target_logit(partials[r * chunks.of_row].w);
    }
    s = lanes_merge(s);
    if (chunk == 0 && threadIdx.x == 0) put_loss(a, r, row, s);
  }
  if (!row.dlogits) return;
  const RowSlots<T> slots = row.slots(a);
  const int begin = chunk * chunks.slots, end = min(begin + chunks.slots, slots.slots);
  stream_gradient<kThreads, kPacks>(row, slots, Gradient(a, r, row.target, s), begin, end);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_any(a); !s) return s;
  return a.rows * chunks_of(a, device).of_row <= INT32_MAX ? kSupported
                                                           : "too many rows for one grid";
}
static Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  const Chunks chunks = chunks_of(args, device);
  return around_rows(args, stream, [&](const Args& a) {
    float4* const partials = static_cast<float4*>(Scratch(args).rest);
    const unsigned all = unsigned(a.rows * chunks.of_row);
    return with_float_type(a.dtype, [&](auto t) {
      using T = decltype(t);
      if (!a.backward) cross_entropy_chunks<T><<<all, kThreads, 0, stream>>>(a, chunks, partials);
      cross_entropy_merge<T>
          <<<a.dlogits ? all : unsigned(a.rows), a.dlogits ? kThreads : kWarpSize, 0, stream>>>(
              a, chunks, partials);
      return launch_status();
    });
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  const size_t partials =
      a.backward ? 0 : size_t(a.rows) * size_t(chunks_of(a, device).of_row) * sizeof(float4);
  return Scratch::bytes(a) + partials;
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double blocks = double(a.rows * chunks_of(a, device).of_row);
  const int reads = a.dlogits && !a.backward ? 2 : 1;
  return held::rows_us(kTuned, bytes(a, reads), int64_t(blocks), kBlocksPerSm, device);
}
constinit const Rung rung = {.idea = "several blocks per row, whose sums are merged",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::cross_entropy::chunked
