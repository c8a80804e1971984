// What all rungs of cross_entropy share: the target of a row, what a row comes down to, and what
// loss and gradient follow from that.
#pragma once

#include <algorithm>
#include <cmath>

#include "device/convert.cuh"
#include "device/max_sum.cuh"
#include "device/row.cuh"
#include "kernels/cross_entropy/cross_entropy.h"

namespace ridge::cross_entropy {

using max_sum::Accurate, max_sum::Fast, max_sum::MaxSum;

inline Support supports_any(const Args& a) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (a.cols > kMostCols) return "counts columns up to 2^30";
  return a.rows <= INT32_MAX ? kSupported : "counts rows up to 2^31";
}

// The maximum and sum of exponentials of some columns; and the sum of their distances from the
// row's pivot, for the smoothing: the plain sum of large logits would leave no digits for the mean.
struct Statistics {
  float max = -INFINITY, sum = 0, total = 0;

  // With a sum that grows as the maximum does: one more number.
  __device__ __forceinline__ void add(float x) {
    const float larger = fmaxf(max, x);
    sum = sum * max_sum::rescaled(max, larger) + Fast::exp(x - max_sum::base_of(larger));
    max = larger;
  }
};

// Over `width` neighbouring lanes, all of which get the result.
__device__ __forceinline__ Statistics lanes_merge(const Statistics& mine, int width = kWarpSize) {
  const float max = lanes_max(mine.max, width);
  return {max, lanes_sum(mine.sum * max_sum::rescaled(mine.max, max), width),
          lanes_sum(mine.total, width)};
}
// Over the warps of a block, each of which has merged its lanes. One barrier; `partials` may not be
// in use by an earlier call.
__device__ __forceinline__ Statistics warps_merge(const Statistics& warp,
                                                  float4 (&partials)[kWarpSize]) {
  const int lane = threadIdx.x % kWarpSize;
  if (lane == 0) partials[threadIdx.x / kWarpSize] = {warp.max, warp.sum, warp.total, 0};
  __syncthreads();
  Statistics one;
  if (lane < int(blockDim.x) / kWarpSize)
    one = {partials[lane].x, partials[lane].y, partials[lane].z};
  return lanes_merge(one);
}

struct Target {
  int column = 0;
  bool is_ignored = false, is_inside = true;

  __device__ __forceinline__ Target(const Args& a, int64_t row) {
    const int64_t target = a.wide_targets ? static_cast<const int64_t*>(a.targets)[row]
                                          : static_cast<const int32_t*>(a.targets)[row];
    is_ignored = target == a.ignored;
    is_inside = target >= 0 && target < a.cols;
    column = is_inside ? int(target) : 0;
  }
};

// In the workspace: how many rows count; then the losses, if the caller only wants their mean or
// sum; then what the rung itself needs.
struct Scratch {
  float *count, *losses;
  void* rest;

  explicit Scratch(const Args& a)
      : count(static_cast<float*>(a.workspace)),
        losses(count + kPackBytes / sizeof(float)),
        rest(reinterpret_cast<char*>(a.workspace) + bytes(a)) {}
  static size_t bytes(const Args& a) {
    const size_t losses = a.loss && !a.losses ? size_t(a.rows) * sizeof(float) : 0;
    return kPackBytes + (losses + kPackBytes - 1) / kPackBytes * kPackBytes;
  }
};
inline size_t scratch_bytes(const Args& a, const DeviceInfo&) { return Scratch::bytes(a); }

// A row of an Args, as a kernel works on it.
template <class T>
struct Row {
  const T* logits;  // (cols)
  T* dlogits;       // (cols), or null
  Target target;
  // Read at once, since the gradient may take the place of the logits.
  float target_logit = 0;
  float pivot = 0;  // a number as large as the logits

  // Not every kernel may read the target's logit: where it does not, it sets it.
  __device__ __forceinline__ Row(const Args& a, int64_t row, bool reads_target = true)
      : logits(static_cast<const T*>(a.logits) + row * a.logits_stride),
        dlogits(a.dlogits ? static_cast<T*>(a.dlogits) + row * a.dlogits_stride : nullptr),
        target(a, row) {
    if (reads_target && !a.backward && !target.is_ignored)
      set_target_logit(to_float(logits[target.column]));
  }
  __device__ __forceinline__ void set_target_logit(float x) {
    target_logit = x;
    if (isfinite(x)) pivot = x;
  }
  // Slots follow the boundaries of what is written, if anything is.
  __device__ __forceinline__ RowSlots<T> slots(const Args& a) const {
    return RowSlots<T>(dlogits ? dlogits : logits, int(a.cols));
  }
};

// By one thread for each row. Differences come first, because large logits cancel in them.
template <class T>
__device__ __forceinline__ void put_loss(const Args& a, int64_t r, const Row<T>& row,
                                         const Statistics& s) {
  const float log_sum = logf(s.sum);
  float loss = (s.max - row.target_logit) + log_sum;
  if (a.smoothing > 0)
    loss = (1 - a.smoothing) * loss +
           a.smoothing * (((s.max - row.pivot) - s.total / float(a.cols)) + log_sum);
  if (!row.target.is_inside) loss = NAN;
  if (a.losses) a.losses[r] = row.target.is_ignored ? 0 : loss;
  if (a.lse) a.lse[r] = row.target.is_ignored ? 0 : s.max + log_sum;
}

// The gradient of one row's loss: exp(x - base) factor - off, and `on` less at the target.
struct Gradient {
  float base, factor, off, on;
  int target;
  bool is_zero;

  __device__ __forceinline__ Gradient(const Args& a, int64_t row, const Target& t,
                                      const Statistics& s)
      : target(t.column), is_zero(t.is_ignored) {
    float scale = a.scale * (a.dloss ? *a.dloss : a.dlosses ? a.dlosses[row] : 1);
    if (a.reduction == Reduction::mean) scale /= *static_cast<const float*>(a.workspace);
    if (!t.is_inside) scale = NAN;
    base = a.backward ? a.lse[row] : max_sum::base_of(s.max);
    factor = a.backward ? scale : scale / s.sum;
    off = scale * (a.smoothing / float(a.cols));
    on = scale * (1 - a.smoothing);
  }
  template <class Math>
  __device__ __forceinline__ float at(int column, float x) const {
    if (is_zero) return 0;
    const float g = Math::exp(x - base) * factor - off;
    return column == target ? g - on : g;
  }
  // Of a pack that begins at a column.
  template <class T>
  __device__ __forceinline__ Pack<T> of(const Pack<T>& logits, int begin) const {
    constexpr int kSize = kPackSize<T>;
    float g[kSize];
    to_floats(logits, g);
#pragma unroll
    for (int i = 0; i < kSize; ++i) g[i] = is_zero ? 0 : Fast::exp(g[i] - base) * factor - off;
    if (unsigned(target - begin) < unsigned(kSize) && !is_zero) {
#pragma unroll
      for (int i = 0; i < kSize; ++i)
        if (begin + i == target) g[i] -= on;
    }
    return from_floats<T>(g);
  }
};

// Rows that count: the mean divides by their number, also in the gradient of the first row.
constexpr int kCountThreads = 1024;
__device__ __forceinline__ int count_targets(const Args& a) {  // by a block of kCountThreads
  __shared__ int all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  int mine = 0;
#pragma unroll 4
  for (int64_t r = threadIdx.x; r < a.rows; r += kCountThreads) mine += !Target(a, r).is_ignored;
  mine = __reduce_add_sync(kAllLanes, mine);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(&all, mine);
  __syncthreads();
  return all;
}
static __global__ void __launch_bounds__(kCountThreads) cross_entropy_count(Args a, float* count) {
  const int all = count_targets(a);
  if (threadIdx.x == 0) *count = float(all);
}
// The mean or sum of all losses, always in the same order.
static __global__ void __launch_bounds__(kCountThreads) cross_entropy_reduce(Args a) {
  __shared__ float sums[kWarpSize];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int count = a.reduction == Reduction::mean ? count_targets(a) : 1;
  float sum = 0;
#pragma unroll 4
  for (int64_t r = threadIdx.x; r < a.rows; r += kCountThreads) sum += a.losses[r];
  sum = lanes_sum(sum, kWarpSize);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp > 0) return;
  sum = lanes_sum(sums[lane], kWarpSize);
  if (lane == 0) *a.loss = sum / float(count);
}

// What every rung does before and after its rows: launch_rows gets the Args with the losses that
// the loss is made of.
template <class F>
Status around_rows(Args a, cudaStream_t stream, F launch_rows) {
  const Scratch scratch(a);
  if (a.loss && !a.losses) a.losses = scratch.losses;
  if (a.rows > 0) {
    if (a.dlogits && a.reduction == Reduction::mean) {
      cross_entropy_count<<<1, kCountThreads, 0, stream>>>(a, scratch.count);
      if (const Status s = launch_status(); !s) return s;
    }
    if (const Status s = launch_rows(a); !s) return s;
  }
  if (!a.loss) return Status::ok();
  cross_entropy_reduce<<<1, kCountThreads, 0, stream>>>(a);
  return launch_status();
}

// All results of a row but those that packs are made of: `first` is the number of this thread.
template <class Math, class T>
__device__ __forceinline__ void put_row(const Args& a, int64_t r, const Row<T>& row,
                                        const Statistics& s, int first, int threads) {
  if (first == 0 && !a.backward) put_loss(a, r, row, s);
  if (!row.dlogits) return;
  const Gradient gradient(a, r, row.target, s);
  for (int c = first; c < int(a.cols); c += threads)
    row.dlogits[c] = from_float<T>(gradient.at<Math>(c, to_float(row.logits[c])));
}

}  // namespace ridge::cross_entropy
