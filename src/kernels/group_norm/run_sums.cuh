// dgamma and dbeta, always in the same order and without atomics: the sums of each run of `inner`
// elements first, and then those of a channel over the samples. This must come before dx, which may
// be x or dy. The sums of the runs also make the means that dx needs.
#pragma once

#include "device/convert_pack.cuh"
#include "device/row.cuh"
#include "device/row_norm.cuh"
#include "kernels/group_norm/groups.cuh"

namespace ridge::group_norm {

struct RunSums {
  float dy, product;  // sum dy, sum dy h
};

constexpr int kRunWarps = 8;
constexpr int kRunPacks = 2;  // of x and of dy under way

// One warp per run. With kVectors, 16 bytes per load, at the boundaries of x.
template <class T, bool kVectors>
__global__ void __launch_bounds__(kRunWarps* kWarpSize) group_norm_runs(Args a, RunSums* to) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t run = int64_t(blockIdx.x) * kRunWarps + threadIdx.x / kWarpSize;
  if (run >= a.runs()) return;  // the whole warp
  const T* const x = static_cast<const T*>(a.x) + run * a.inner;
  const T* const dy = static_cast<const T*>(a.dy) + run * a.inner;
  const int64_t row = run / a.depth;
  const float mean = a.mean[row], rstd = a.rstd[row];
  const int inner = int(a.inner);
  float sum = 0, product = 0;
  if constexpr (kVectors) {
    constexpr int kSize = kPackSize<T>;
    const RowSlots<T> slots(x, inner);
    for (int first = lane; first < slots.slots; first += kWarpSize * kRunPacks) {
      Pack<T> of_x[kRunPacks], of_dy[kRunPacks];
      load_row(of_x, x, slots, first, kWarpSize, T(0.0f));
      load_row(of_dy, dy, slots, first, kWarpSize, T(0.0f));
#pragma unroll
      for (int p = 0; p < kRunPacks; ++p) {
        float h[kSize], g[kSize];
        to_floats(of_x[p], h);
        to_floats(of_dy[p], g);  // 0 outside of the run
        sum += row_norm::sum_of(g);
#pragma unroll
        for (int i = 0; i < kSize; ++i) h[i] = g[i] * ((h[i] - mean) * rstd);
        product += row_norm::sum_of(h);
      }
    }
  } else {
    for (int i = lane; i < inner; i += kWarpSize) {
      const float g = to_float(dy[i]);
      sum += g;
      product += g * ((to_float(x[i]) - mean) * rstd);
    }
  }
  sum = lanes_sum(sum, kWarpSize);
  product = lanes_sum(product, kWarpSize);
  if (lane == 0) to[run] = {sum, product};
}

constexpr int kChannelThreads = 128;
static __global__ void __launch_bounds__(kChannelThreads)
    group_norm_channels(Args a, const RunSums* runs) {
  const int64_t c = int64_t(blockIdx.x) * kChannelThreads + threadIdx.x;
  if (c >= a.channels()) return;
  float dgamma = 0, dbeta = 0;
#pragma unroll 4
  for (int64_t n = 0; n < a.n; ++n) {
    const RunSums one = runs[n * a.channels() + c];
    dgamma += one.product;
    dbeta += one.dy;
  }
  a.dgamma[c] = dgamma;
  a.dbeta[c] = dbeta;
}

template <class T, bool kVectors>
Status launch_run_sums(const Args& a, RunSums* runs, cudaStream_t stream) {
  if (a.runs() > 0)
    group_norm_runs<T, kVectors>
        <<<unsigned((a.runs() + kRunWarps - 1) / kRunWarps), kRunWarps * kWarpSize, 0, stream>>>(
            a, runs);
  group_norm_channels<<<unsigned((a.channels() + kChannelThreads - 1) / kChannelThreads),
                        kChannelThreads, 0, stream>>>(a, runs);
  return launch_status();
}
inline size_t run_sums_bytes(const Args& a) {
  return a.backward ? size_t(a.runs()) * sizeof(RunSums) : 0;
}

// The means of g and g h over a row, by a warp; every lane gets them.
template <class T>
__device__ __forceinline__ float2 row_means(const Args& a, int64_t r, const RunSums* runs) {
  const T* const gamma =
      a.gamma ? static_cast<const T*>(a.gamma) + r % a.groups * a.depth : nullptr;
  float g = 0, gh = 0;
  for (int64_t d = threadIdx.x % kWarpSize; d < a.depth; d += kWarpSize) {
    const RunSums one = runs[r * a.depth + d];
    const float factor = gamma ? to_float(gamma[d]) : 1;
    g += factor * one.dy;
    gh += factor * one.product;
  }
  const float cols = float(a.cols());
  return {lanes_sum(g, kWarpSize) / cols, lanes_sum(gh, kWarpSize) / cols};
}

}  // namespace ridge::group_norm
