// batch_norm rung 07, cluster: the blocks of a cluster hold a channel in their registers.
//
// Since 06_vectors: x (backward, x and dy) is read once, in one launch. Up to 16 blocks share a
//   channel of up to 3.2 MB, whichever samples its runs come from; each warp sends its moments to
//   every block of the cluster, and each block merges them in the same order.
// Stops at: HBM, and the time in which a cluster loads nothing because its blocks wait for one
//   another.
// Not for: channels last, where a 16-byte load has several channels; runs that do not consist of
//   whole packs, such as 7 x 7 pixels; GPUs before Hopper.
#include "device/held_rows.cuh"
#include "device/ptx/cluster.cuh"
#include "kernels/batch_norm/packs.cuh"
#include "select/held_rows.h"

namespace ridge::batch_norm::cluster {

using held::kMostBlocks;
// As measured for softmax, which moves the same bytes in the same way.
constexpr Tuned kTuned = {5.0, 0.83}, kTunedLarge = {6.0, 0.80}, kTunedAlone = {6.0, 0.76};

template <bool kBackward>
constexpr int kHeld = held::deep_packs(kBackward ? 2 : 1);

struct WithDivider {
  Args a;
  Divider per_run;  // packs
};

template <class T, bool kBackward>
__global__ void __launch_bounds__(2 * held::kThreadsDeep) batch_norm_cluster(WithDivider of) {
  constexpr int kSize = kPackSize<T>, kPacks = kHeld<kBackward>;
  using Total = TotalOf<kBackward>;
  __shared__ float4 partials[kMostBlocks * kWarpSize];  // (blocks of the cluster, warps)
  const Args& a = of.a;
  const int rank = int(cluster_rank()), blocks = int(cluster_size());
  const int threads = int(blockDim.x), warps = threads / kWarpSize, lanes = blocks * threads;
  const int64_t c = int64_t(blockIdx.x) / blocks;
  cluster_arrive_relaxed();  // this block is there to be written to

  // The channel as one row of packs, wherever its runs lie.
  const RowSlots<T> slots(static_cast<const T*>(nullptr), int(a.count()));
  // Places are counted in packs and fit 32 bits: 64 would take twice the registers.
  const uint32_t packs = uint32_t(of.per_run.divisor()), base = uint32_t(c) * packs;
  const uint32_t apart = uint32_t(a.channels - 1) * packs;
  const auto place = [&](int slot) {
    return base + uint32_t(slot) + uint32_t(of.per_run.quotient(slot)) * apart;
  };
  const int first = rank * threads + int(threadIdx.x);
  Pack<T> x[kPacks], dy[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int slot = first + p * lanes;
    x[p] = row::filled_with(T(0.0f));
    if (slot >= slots.slots) continue;
    x[p] = static_cast<const Pack<T>*>(a.x)[place(slot)];
    if constexpr (kBackward) dy[p] = static_cast<const Pack<T>*>(a.dy)[place(slot)];
  }

  Total mine;
  if constexpr (kBackward) {
    const float mean = a.mean[c], rstd = a.rstd[c];
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      if (first + p * lanes >= slots.slots) continue;
      float h[kSize], g[kSize];
      to_floats(x[p], h);
      to_floats(dy[p], g);
      mine.dy += row_norm::sum_of(g);
#pragma unroll
      for (int i = 0; i < kSize; ++i) h[i] = g[i] * ((h[i] - mean) * rstd);
      mine.product += row_norm::sum_of(h);
    }
    mine = lanes_merge(mine);
  } else {
    mine = row_norm::held_moments(x, slots, first, lanes, kWarpSize, true);
  }

  const int lane = threadIdx.x % kWarpSize;
  cluster_wait();  // all are there; the loads had the time until here
  if (lane < blocks)
    store_in_cluster(&partials[rank * warps + int(threadIdx.x) / kWarpSize], unsigned(lane),
                     packed(mine));
  __syncwarp();
  cluster_arrive();
  cluster_wait();  // nobody writes after that, so blocks may end as they like
  Total all;
  for (int i = lane; i < blocks * warps; i += kWarpSize) {
    Total one;
    unpack(partials[i], one);
    all = merged(all, one);
  }
  const Line line = line_of<T>(a, c, lanes_merge(all), first == 0);
  // The same number, but the compiler cannot know that: it would keep all places until here, and
  // spill. Blocks are one thread deep.
  const int again = first + int(blockDim.z) - 1;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int slot = again + p * lanes;
    if (slot >= slots.slots) continue;
    float floats[kSize], g[kSize];
    to_floats(held::seen_anew(x[p]), floats);
    if constexpr (kBackward) to_floats(held::seen_anew(dy[p]), g);
#pragma unroll
    for (int i = 0; i < kSize; ++i)
      floats[i] = kBackward ? line.dx(floats[i], g[i]) : line.y(floats[i]);
    Pack<T>* const to = static_cast<Pack<T>*>(kBackward ? a.dx : a.y) + place(slot);
    store_pack(reinterpret_cast<T*>(to), from_floats<T>(floats));
  }
}

static held::ClusterShape shape_for(const Args& a) {
  const int64_t packs = a.count() * int64_t(size_of(a.dtype)) / kPackBytes;
  return held::cluster_shape_for(packs, a.op == Op::backward ? 2 : 1);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_any(a); !s) return s;
  if (a.op == Op::infer) return "nothing is added up";
  if (a.elements() == 0) return "there are no elements";
  const auto is_aligned = [](const void* p) { return is_pack_aligned(p); };
  const bool outputs =
      a.op == Op::backward ? is_aligned(a.dy) && is_aligned(a.dx) : is_aligned(a.y);
  if (a.inner * int64_t(size_of(a.dtype)) % kPackBytes != 0 || !is_aligned(a.x) || !outputs)
    return "wants channels in runs of whole packs of 16 bytes";
  if (a.elements() * int64_t(size_of(a.dtype)) / kPackBytes > INT32_MAX)
    return "counts packs of 16 bytes up to 2^31";
  if (device.major != 9) return "needs the clusters of Hopper";
  const held::ClusterShape shape = shape_for(a);
  if (shape.threads == 0) return "the channel does not fit the registers of 16 blocks";
  return a.channels <= INT32_MAX / shape.blocks ? kSupported : "too many channels for one grid";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    const WithDivider of = {a, Divider(a.inner / kPackSize<T>, a.count())};
    const auto kernel =
        a.op == Op::backward ? batch_norm_cluster<T, true> : batch_norm_cluster<T, false>;
    return held::launch_cluster(kernel, of, a.channels, shape_for(a), stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const held::ClusterShape shape = shape_for(a);
  const int an_sm = shape.threads <= held::kThreadsDeep ? 2 : 1;  // blocks
  const Tuned& tuned = an_sm == 1                       ? kTunedAlone
                       : shape.blocks > held::kPortable ? kTunedLarge
                                                        : kTuned;
  return held::rows_us(tuned, bytes(a, 1), a.channels, double(an_sm) / shape.blocks, device);
}
constinit const Rung rung = {.idea = "one read: 2 to 16 blocks hold a channel together",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::batch_norm::cluster
