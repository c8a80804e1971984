// batch_norm rung 06, vectors: each load brings 16 bytes, and four loads are under way.
//
// Since 05_slices: 64 bytes per lane are under way instead of 4 (or 2). A thread takes the mean
//   of its packs and the distances from it, and merges that with what it has: one division for 16
//   numbers or more, not for each. With channels last, a pack is a number of each of 4 (or 8)
//   channels, and the division is the same for all of them.
// Stops at: HBM: x is read twice, and the second read hits L2 only if x fits there.
// Not for: runs of a few elements before the next channel (7 x 7 pixels in NCHW), whose packs lie
//   across channels: edges are loaded element by element.
#include "kernels/batch_norm/packs.cuh"
#include "select/select.h"

namespace ridge::batch_norm::vectors {

constexpr Tuned kTuned = {9.0, 0.80};  // modelled; to be replaced by a rate measured on an H200
constexpr int kThreads = kSliceThreads;
constexpr int kPacks = 4;  // under way; backward half as many of x and of dy

// Channels last, in packs: all columns of all rows are aligned.
static bool lies_in_packs(const Args& a) {
  const auto is_aligned = [](const void* p) { return is_pack_aligned(p); };
  const int64_t size = kPackBytes / int64_t(size_of(a.dtype));
  return a.inner == 1 && a.channels % size == 0 && is_aligned(a.x) &&
         (a.op == Op::backward ? is_aligned(a.dy) && is_aligned(a.dx) : is_aligned(a.y));
}
// The most slots that a run of x can have.
static int64_t slots_per_run(const Args& a) {
  return most_slots(a.x, a.outer * a.channels, a.inner, a.inner, int64_t(size_of(a.dtype)));
}
static Slices slices_of(const Args& a, const DeviceInfo& device) {
  const int64_t size = kPackBytes / int64_t(size_of(a.dtype));
  if (lies_in_packs(a)) return Slices(a.channels / size, a.outer, true, kPacks, device);
  return Slices(a.channels, a.outer * slots_per_run(a), false, kPacks, device);
}

template <class T, bool kBackward>
__global__ void __launch_bounds__(kThreads)
    batch_norm_runs(Args a, Divider per_run, int64_t length, Memory memory) {
  constexpr int kUnderWay = kBackward ? kPacks / 2 : kPacks;
  using Total = TotalOf<kBackward>;
  __shared__ float4 partials[kThreads / kWarpSize];
  const int64_t c = blockIdx.x, begin = int64_t(blockIdx.y) * length;
  const int64_t end = min(begin + length, a.outer * per_run.divisor());
  const Runs<T> runs(a, c, per_run);
  const float mean = kBackward ? a.mean[c] : 0, rstd = kBackward ? a.rstd[c] : 0;
  Total mine;
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads * kUnderWay) {
    Part<T> parts[kUnderWay];
    runs.template load<kBackward>(parts, i, kThreads, end);
    if constexpr (kBackward) mine = merged(mine, sums_of(parts, mean, rstd));
    else mine = merged(mine, moments_of(parts));
  }
  mine = lanes_merge(mine);
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  if (lane == 0) partials[warp] = packed(mine);
  __syncthreads();
  if (warp > 0) return;
  Total one;
  if (lane < kThreads / kWarpSize) unpack(partials[lane], one);
  one = lanes_merge(one);
  if (lane == 0) memory.partials[int64_t(blockIdx.y) * a.channels + c] = packed(one);
}

template <class T, bool kBackward>
__global__ void __launch_bounds__(kThreads)
    batch_norm_columns(Args a, int width, int64_t length, Memory memory) {
  constexpr int kSize = kPackSize<T>, kRows = kBackward ? kPacks / 2 : kPacks;
  using Total = TotalOf<kBackward>;
  __shared__ Total values[kSize][kThreads];
  const int64_t c = (int64_t(blockIdx.x) * width + threadIdx.x % width) * kSize;
  const bool inside = c < a.channels;
  Total mine[kSize];
  if (inside) {
    const T* const x = static_cast<const T*>(a.x) + c;
    const T* const dy = static_cast<const T*>(a.dy) + c;
    const int step = kThreads / width;
    const int64_t begin = int64_t(blockIdx.y) * length, end = min(begin + length, a.outer);
    ColumnMoments<kSize> moments;
    float mean[kSize], rstd[kSize];
    if constexpr (kBackward) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        mean[i] = a.mean[c + i];
        rstd[i] = a.rstd[c + i];
      }
    }
    for (int64_t r = begin + threadIdx.x / width; r < end; r += kRows * step) {
      Pack<T> of_x[kRows], of_dy[kRows];
      const int rows = int(min((end - r + step - 1) / step, int64_t(kRows)));
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        if (k >= rows) continue;
        of_x[k] = load_pack(x + (r + k * step) * a.channels);
        if constexpr (kBackward) of_dy[k] = load_pack(dy + (r + k * step) * a.channels);
      }
      float floats[kRows][kSize];
#pragma unroll
      for (int k = 0; k < kRows; ++k)
        if (k < rows) to_floats(of_x[k], floats[k]);
      if constexpr (kBackward) {
#pragma unroll
        for (int k = 0; k < kRows; ++k) {
          if (k >= rows) continue;
          float g[kSize];
          to_floats(of_dy[k], g);
#pragma unroll
          for (int i = 0; i < kSize; ++i) {
            mine[i].dy += g[i];
            mine[i].product += g[i] * ((floats[k][i] - mean[i]) * rstd[i]);
          }
        }
      } else {
        moments.add(floats, rows);
      }
    }
    if constexpr (!kBackward) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) mine[i] = {moments.count, moments.mean[i], moments.m2[i]};
    }
  }
#pragma unroll
  for (int i = 0; i < kSize; ++i) values[i][threadIdx.x] = mine[i];
  for (int half = kThreads / 2; half >= width; half /= 2) {
    __syncthreads();
    for (int k = threadIdx.x; k < half * kSize; k += kThreads) {
      Total(&of)[kThreads] = values[k / half];
      of[k % half] = merged(of[k % half], of[k % half + half]);
    }
  }
  __syncthreads();  // other threads merged the last half
  if (int(threadIdx.x) >= width || !inside) return;
#pragma unroll
  for (int i = 0; i < kSize; ++i)
    memory.partials[int64_t(blockIdx.y) * a.channels + c + i] = packed(values[i][threadIdx.x]);
}

template <class T, bool kBackward>
__global__ void __launch_bounds__(kLineThreads)
    batch_norm_in_order(Args a, LineAt line_at, const Line* lines) {
  put_lines<T, kBackward>(a.x, a.dy, kBackward ? a.dx : a.y, a.elements(), line_at, lines);
}

// Channels last, in packs: a thread keeps the lines of its channels.
constexpr int kRowTurns = 4;
template <class T, bool kBackward>
__global__ void __launch_bounds__(kThreads) batch_norm_rows(Args a, int width, const Line* lines) {
  constexpr int kSize = kPackSize<T>, kRows = kBackward ? kPacks / 2 : kPacks;
  const int64_t c = (int64_t(blockIdx.y) * width + threadIdx.x % width) * kSize;
  if (c >= a.channels) return;
  Line of[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) of[i] = lines[c + i];
  const T* const x = static_cast<const T*>(a.x) + c;
  const T* const dy = static_cast<const T*>(a.dy) + c;
  T* const out = static_cast<T*>(kBackward ? a.dx : a.y) + c;
  const int step = kThreads / width;
  const int64_t begin = int64_t(blockIdx.x) * kRowTurns * kPacks * step;
  const int64_t end = min(begin + kRowTurns * kPacks * step, a.outer);
  for (int64_t r = begin + threadIdx.x / width; r < end; r += kRows * step) {
    Pack<T> of_x[kRows], of_dy[kRows];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      if (r + k * step >= end) continue;
      of_x[k] = load_pack(x + (r + k * step) * a.channels);
      if constexpr (kBackward) of_dy[k] = load_pack(dy + (r + k * step) * a.channels);
    }
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      if (r + k * step >= end) continue;
      float floats[kSize], g[kSize];
      to_floats(of_x[k], floats);
      if constexpr (kBackward) to_floats(of_dy[k], g);
#pragma unroll
      for (int i = 0; i < kSize; ++i)
        floats[i] = kBackward ? of[i].dx(floats[i], g[i]) : of[i].y(floats[i]);
      store_pack(out + (r + k * step) * a.channels, from_floats<T>(floats));
    }
  }
}

template <class T, bool kBackward>
static Status launch_typed(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Slices s = slices_of(a, device);
  const Memory memory(a);
  const bool in_packs = lies_in_packs(a), is_empty = a.elements() == 0;
  if (a.op != Op::infer && !is_empty) {
    if (in_packs)
      batch_norm_columns<T, kBackward>
          <<<s.grid(), kThreads, 0, stream>>>(a, s.width, s.length, memory);
    else
      batch_norm_runs<T, kBackward><<<s.grid(), kThreads, 0, stream>>>(
          a, Divider(slots_per_run(a), a.outer * slots_per_run(a) + 1), s.length, memory);
  }
  if (const Status status = launch_lines<T>(a, is_empty ? 0 : s.count, stream); !status)
    return status;
  if (is_empty) return Status::ok();
  if (in_packs) {
    const int64_t rows = kRowTurns * kPacks * kThreads / s.width;
    batch_norm_rows<T, kBackward>
        <<<dim3(unsigned((a.outer + rows - 1) / rows), unsigned(s.tiles)), kThreads, 0, stream>>>(
            a, s.width, memory.lines);
  } else {
    batch_norm_in_order<T, kBackward><<<line_blocks<T>(a.elements()), kLineThreads, 0, stream>>>(
        a, LineAt(a.inner, a.channels, kLineSpan<T>), memory.lines);
  }
  return launch_status();
}

static Support supports(const Args& a, const DeviceInfo&) { return supports_any(a); }
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    return a.op == Op::backward ? launch_typed<T, true>(a, device, stream)
                                : launch_typed<T, false>(a, device, stream);
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  const bool sums = a.op != Op::infer && a.elements() > 0;
  return Memory::bytes(a, sums ? slices_of(a, device).count : 0);
}
// Runs whose edges lie inside of packs take longer, the more the shorter they are.
static double cost(const Args& a, const DeviceInfo& device) {
  const bool has_edges = !lies_in_packs(a) && a.op != Op::infer && a.inner > 0;
  const double longer = has_edges ? 1 + 64.0 / double(a.inner) : 1;
  return streaming_us(kTuned, longer * bytes(a, a.op == Op::infer ? 1 : 2), device);
}
constinit const Rung rung = {.idea = "16 bytes per load, four loads under way",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::batch_norm::vectors
