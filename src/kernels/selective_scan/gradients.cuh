// The gradients that are sums over channels or samples: launches leave their parts in the
// workspace, and these add them up, always in the same order.
#pragma once

#include "kernels/selective_scan/channel.cuh"

namespace ridge::selective_scan {

constexpr int kSumThreads = 128;
inline unsigned sum_blocks(int64_t n) { return unsigned((n + kSumThreads - 1) / kSumThreads); }

// In the workspace: parts of da (batch, dim, state), of dd and of ddelta_bias (batch, dim); then
// what a rung puts there.
struct Memory {
  float *da, *dd, *ddelta_bias, *rest;

  explicit Memory(const Args& a) : da(static_cast<float*>(a.workspace)) {
    dd = da + a.channels() * a.state;
    ddelta_bias = dd + a.channels();
    rest = ddelta_bias + a.channels();
  }
  static size_t bytes(const Args& a, int64_t rest) {
    return size_t(a.channels() * (a.state + 2) + rest) * sizeof(float);
  }
};

// Sums over the batch, one thread per result: da, then dd, then ddelta_bias.
static __global__ void __launch_bounds__(kSumThreads) add_samples(Args a, Memory memory) {
  int64_t i = int64_t(blockIdx.x) * kSumThreads + threadIdx.x;
  const auto add = [&](const float* parts, int64_t count, float* to) {
    float sum = 0;
    for (int64_t sample = 0; sample < a.batch; ++sample) sum += parts[sample * count + i];
    if (to) to[i] = sum;
  };
  if (i < a.dim * a.state) return add(memory.da, a.dim * a.state, a.da);
  i -= a.dim * a.state;
  if (i < a.dim) {
    add(memory.dd, a.dim, a.dd);
    add(memory.ddelta_bias, a.dim, a.ddelta_bias);
  }
}
inline Status launch_add_samples(const Args& a, cudaStream_t stream) {
  const int64_t results = a.dim * (a.state + 1);
  if (results > 0) add_samples<<<sum_blocks(results), kSumThreads, 0, stream>>>(a, Memory(a));
  return launch_status();
}

// db and dc of one sample from `parts` parts of (state, length) each: one thread per result.
template <class T>
__global__ void __launch_bounds__(kSumThreads)
    add_parts(Args a, const float* of_db, const float* of_dc, int64_t parts) {
  const int64_t one = a.state * a.length;  // of a sample
  const int64_t i = int64_t(blockIdx.x) * kSumThreads + threadIdx.x;
  if (i >= a.batch * one) return;
  const int64_t first = i / one * parts * one + i % one;
  float db = 0, dc = 0;
  for (int64_t p = 0; p < parts; ++p) {
    db += of_db[first + p * one];
    dc += of_dc[first + p * one];
  }
  static_cast<T*>(a.db)[i] = from_float<T>(db);
  static_cast<T*>(a.dc)[i] = from_float<T>(dc);
}
template <class T>
Status launch_add_parts(const Args& a, const float* of_db, const float* of_dc, int64_t parts,
                        cudaStream_t stream) {
  const int64_t results = a.batch * a.state * a.length;
  if (results > 0)
    add_parts<T><<<sum_blocks(results), kSumThreads, 0, stream>>>(a, of_db, of_dc, parts);
  return launch_status();
}

}  // namespace ridge::selective_scan
