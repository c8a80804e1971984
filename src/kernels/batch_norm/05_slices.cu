// batch_norm rung 05, slices: several blocks share a channel, and with channels last the lanes of
// a load have neighbouring channels.
//
// Since 04_warp_shuffle: as many blocks as the GPU has room for work on the channels, however few
//   there are. They leave partial moments in the workspace, a second launch merges those of each
//   channel in a fixed order, and a third passes over the elements in the order of memory. With
//   channels last, neighbouring lanes have neighbouring channels, so every byte that arrives is
//   used.
// Stops at: bytes in flight: each load brings 4 (or 2) bytes per lane; a division per number.
// Not for: inputs so small that three launches take longer than the blocks of 04.
#include "kernels/batch_norm/slices.cuh"

namespace ridge::batch_norm::slices {

constexpr int kTurn = 4;  // elements of a thread at least

static Slices slices_of(const Args& a, const DeviceInfo& device) {
  return Slices(a.channels, a.count(), a.inner == 1, kTurn, device);
}

template <class T, bool kBackward>
__global__ void __launch_bounds__(kSliceThreads)
    batch_norm_slices(Args a, Divider by_inner, int width, int length, Memory memory) {
  using Total = TotalOf<kBackward>;
  __shared__ Total values[kSliceThreads];
  const int64_t c = int64_t(blockIdx.x) * width + threadIdx.x % width;
  Total mine;
  if (c < a.channels) {
    const Channel<T> channel(a, c, by_inner);
    const int64_t begin = int64_t(blockIdx.y) * length;
    const int64_t end = min(begin + length, a.count());
    for (int64_t i = begin + threadIdx.x / width; i < end; i += kSliceThreads / width)
      channel.add(int(i), mine);
  }
  values[threadIdx.x] = mine;
  for (int half = kSliceThreads / 2; half >= width; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half)
      values[threadIdx.x] = merged(values[threadIdx.x], values[threadIdx.x + half]);
  }
  if (int(threadIdx.x) < width && c < a.channels)
    memory.partials[int64_t(blockIdx.y) * a.channels + c] = packed(values[threadIdx.x]);
}

constexpr int kPerThread = 4;
constexpr int kPerBlock = kPerThread * kSliceThreads;
template <class T, bool kBackward>
__global__ void __launch_bounds__(kSliceThreads)
    batch_norm_elements(Args a, LineAt line_at, const Line* lines) {
  const int64_t start = int64_t(blockIdx.x) * kPerBlock, all = a.elements();
  line_at.start_at(start);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const int i = k * kSliceThreads + int(threadIdx.x);
    const int64_t p = start + i;
    if (p >= all) return;
    const Line line = lines[line_at(i)];
    const float x = to_float(static_cast<const T*>(a.x)[p]);
    if constexpr (kBackward)
      static_cast<T*>(a.dx)[p] =
          from_float<T>(line.dx(x, to_float(static_cast<const T*>(a.dy)[p])));
    else static_cast<T*>(a.y)[p] = from_float<T>(line.y(x));
  }
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Slices s = slices_of(a, device);
  const Memory memory(a);
  return with_float_type(a.dtype, [&](auto t) -> Status {
    using T = decltype(t);
    const bool backward = a.op == Op::backward;
    if (a.op != Op::infer && a.elements() > 0) {
      const auto kernel = backward ? batch_norm_slices<T, true> : batch_norm_slices<T, false>;
      kernel<<<s.grid(), kSliceThreads, 0, stream>>>(a, by_inner(a), s.width, int(s.length),
                                                     memory);
    }
    if (const Status status = launch_lines<T>(a, s.count, stream); !status) return status;
    const auto blocks = unsigned((a.elements() + kPerBlock - 1) / kPerBlock);
    if (blocks == 0) return Status::ok();
    const auto kernel = backward ? batch_norm_elements<T, true> : batch_norm_elements<T, false>;
    kernel<<<blocks, kSliceThreads, 0, stream>>>(a, LineAt(a.inner, a.channels, kPerBlock),
                                                 memory.lines);
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return Memory::bytes(a, a.op == Op::infer ? 0 : slices_of(a, device).count);
}
constinit const Rung rung = {.idea = "blocks share a channel; a second launch merges",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::batch_norm::slices
