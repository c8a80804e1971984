// group_norm rung 05, slices: 16 bytes per load, and several blocks share a row.
//
// Since 04_warp_shuffle: as many blocks as the GPU has room for work on the rows, however few
//   there are, and each of their threads has four packs under way, with one division for all of
//   them. They leave partial moments; a second launch merges those of each row in a fixed order,
//   and writes one line for each channel of each sample: a mean, a factor and a summand. A third
//   launch passes over the elements in the order of memory.
// Stops at: HBM: x is read twice, and the second read hits L2 only if x fits there.
// Not for: rows that fit into the registers of a block (06); tensors without dimensions behind
//   the channels, where a line is longer than the element that it is for.
#include "device/channel_line.cuh"
#include "kernels/group_norm/run_sums.cuh"
#include "select/select.h"

namespace ridge::group_norm::slices {

constexpr Tuned kTuned = {9.0, 0.80};  // modelled; to be replaced by a rate measured on an H200
constexpr int kThreads = 256, kPacks = 4, kTurn = kThreads * kPacks;
constexpr int kBlocksPerSm = 4;

// In the workspace: lines (runs), then partials (rows, slices), or backward the sums of the runs.
struct Memory {
  Line* lines;
  float4* partials;
  RunSums* runs;

  explicit Memory(const Args& a)
      : lines(static_cast<Line*>(a.workspace)),
        partials(reinterpret_cast<float4*>(lines + a.runs())),
        runs(reinterpret_cast<RunSums*>(partials)) {}
};

struct Slices {
  int64_t turns, count;  // of a slice; how many slices a row has
  Slices(const Args& a, const DeviceInfo& device) {
    const int64_t slots =
        ridge::most_slots(a.x, a.rows(), a.cols(), a.cols(), int64_t(size_of(a.dtype)));
    const int64_t all = std::max<int64_t>((slots + kTurn - 1) / kTurn, 1);
    const int64_t wanted = std::max<int64_t>(
        int64_t(device.sm_count) * kBlocksPerSm / std::max<int64_t>(a.rows(), 1), 1);
    turns = (all + wanted - 1) / wanted;
    count = (all + turns - 1) / turns;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    group_norm_slices(Args a, int slices, int slots_per_slice, float4* to) {
  __shared__ float4 partials[kWarpSize];
  const int64_t r = blockIdx.x / unsigned(slices);
  const int slice = int(blockIdx.x % unsigned(slices));
  const T* const x = static_cast<const T*>(a.x) + r * a.cols();
  const RowSlots<T> slots(x, int(a.cols()));
  const int end = int(min((int64_t(slice) + 1) * slots_per_slice, int64_t(slots.slots)));
  Moments mine;
  for (int first = slice * slots_per_slice + threadIdx.x; first < end; first += kTurn) {
    Pack<T> held[kPacks];
    load_row(held, x, slots, first, kThreads, T(0.0f));
    mine = merged(mine, row_norm::held_moments(held, slots, first, kThreads, 1, true));
  }
  const float warp_count = lanes_sum(mine.count, kWarpSize);
  const Moments warp = lanes_merge(mine, warp_count, kWarpSize);
  const int begin = slots.begin(slice * slots_per_slice);
  const int count = min(slots.begin(end), slots.cols) - max(begin, 0);
  const Moments all = warps_merge(warp, float(count), partials);
  if (threadIdx.x == 0) to[blockIdx.x] = {all.count, all.mean, all.m2, 0};
}

// One warp per row writes the lines of its channels.
constexpr int kLineWarps = 4;
template <class T>
__global__ void __launch_bounds__(kLineWarps* kWarpSize)
    group_norm_lines(Args a, int slices, Memory memory) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t r = int64_t(blockIdx.x) * kLineWarps + threadIdx.x / kWarpSize;
  if (r >= a.rows()) return;  // the whole warp
  const int64_t of_group = r % a.groups * a.depth;
  const auto weight = [&](const void* weights, int64_t d, float otherwise) {
    return weights ? to_float(static_cast<const T*>(weights)[of_group + d]) : otherwise;
  };
  Line* const lines = memory.lines + r * a.depth;
  if (a.backward) {
    const float2 means = row_means<T>(a, r, memory.runs);
    const float mean = a.mean[r], rstd = a.rstd[r];
    for (int64_t d = lane; d < a.depth; d += kWarpSize)
      lines[d] = Line{mean, -rstd * means.y * rstd, -rstd * means.x, rstd * weight(a.gamma, d, 1)};
    return;
  }
  Moments mine;
  for (int s = lane; s < slices; s += kWarpSize) {
    const float4 one = memory.partials[r * slices + s];
    mine = merged(mine, {one.x, one.y, one.z});
  }
  const Moments all = lanes_merge(mine, float(a.cols()), kWarpSize);
  const float rstd = rsqrtf(all.m2 / all.count + a.epsilon);
  if (lane == 0) put_statistics(a, r, all.mean, rstd);
  for (int64_t d = lane; d < a.depth; d += kWarpSize)
    lines[d] = Line{all.mean, rstd * weight(a.gamma, d, 1), weight(a.beta, d, 0), 0};
}

template <class T, bool kBackward>
__global__ void __launch_bounds__(kLineThreads)
    group_norm_in_order(Args a, LineAt line_at, const Line* lines) {
  put_lines<T, kBackward>(a.x, a.dy, kBackward ? a.dx : a.y, a.elements(), line_at, lines);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_any(a); !s) return s;
  return a.rows() * Slices(a, device).count <= INT32_MAX ? kSupported
                                                         : "too many rows for one grid";
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Slices s(a, device);
  const Memory memory(a);
  const int slices = int(s.count);
  return with_float_type(a.dtype, [&](auto t) -> Status {
    using T = decltype(t);
    if (a.backward) {
      if (const Status sums = launch_run_sums<T, true>(a, memory.runs, stream); !sums) return sums;
      if (a.elements() == 0) return Status::ok();
    } else {
      group_norm_slices<T><<<unsigned(a.rows() * slices), kThreads, 0, stream>>>(
          a, slices, int(s.turns) * kTurn, memory.partials);
    }
    group_norm_lines<T>
        <<<unsigned((a.rows() + kLineWarps - 1) / kLineWarps), kLineWarps * kWarpSize, 0, stream>>>(
            a, slices, memory);
    const auto in_order = a.backward ? group_norm_in_order<T, true> : group_norm_in_order<T, false>;
    in_order<<<line_blocks<T>(a.elements()), kLineThreads, 0, stream>>>(
        a, LineAt(a.inner, a.runs(), kLineSpan<T>), memory.lines);
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  const size_t lines = size_t(a.runs()) * sizeof(Line);
  if (a.backward) return lines + run_sums_bytes(a);
  return lines + size_t(a.rows() * Slices(a, device).count) * sizeof(float4);
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double lines = double(a.runs()) * 2 * sizeof(Line);  // written and read
  return streaming_us(kTuned, bytes(a, 2) + lines, device);
}
constinit const Rung rung = {.idea = "16 bytes per load; blocks share a row",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::group_norm::slices
