// The sums of dyt's backward pass: what a thread adds up, and where the partial sums lie until the
// last kernel adds them, always in the same order.
#pragma once

#include "device/activations.cuh"
#include "device/lanes.cuh"
#include "kernels/dyt/dyt.h"

namespace ridge::dyt {

struct Sums {
  float dgamma = 0, dbeta = 0, dalpha = 0;

  // Adds an element, and returns its dx.
  __device__ __forceinline__ float add(float x, float dy, float gamma, float alpha) {
    const float u = alpha * x;
    // tanh and its slope from one exponential, which never overflows.
    const float e = ptx::exp2_approx(fabsf(u) * (-2 * activations::kLog2E));
    const float r = ptx::rcp_approx(1 + e);
    const float slope = 4 * e * r * r * (dy * gamma);
    dgamma += dy * copysignf((1 - e) * r, u);
    dbeta += dy;
    dalpha += slope * x;
    return slope * alpha;
  }
};

// In the workspace: dgamma and dbeta (slices, cols), dalpha (parts). A slice is some of the rows.
struct Partials {
  float *dgamma, *dbeta, *dalpha;
  int64_t slices, cols, parts;

  Partials(const Args& a, int64_t slices_of_rows, int64_t parts_of_alpha)
      : dgamma(static_cast<float*>(a.workspace)),
        dbeta(dgamma + slices_of_rows * a.cols),
        dalpha(dbeta + slices_of_rows * a.cols),
        slices(slices_of_rows),
        cols(a.cols),
        parts(parts_of_alpha) {}
  size_t bytes() const { return size_t(2 * slices * cols + parts) * sizeof(float); }
};

constexpr int kSumThreads = 256;

// One thread per column; the last block adds up dalpha.
static __global__ void __launch_bounds__(kSumThreads) dyt_add_partials(Args a, Partials p) {
  const int64_t c = int64_t(blockIdx.x) * kSumThreads + threadIdx.x;
  if (blockIdx.x + 1 < gridDim.x) {
    if (c >= p.cols) return;
    float dgamma = 0, dbeta = 0;
    for (int64_t s = 0; s < p.slices; ++s) {
      dgamma += p.dgamma[s * p.cols + c];
      dbeta += p.dbeta[s * p.cols + c];
    }
    a.dgamma[c] = dgamma;
    a.dbeta[c] = dbeta;
    return;
  }
  __shared__ float of_warps[kSumThreads / kWarpSize];
  float sum = 0;
  for (int64_t i = threadIdx.x; i < p.parts; i += kSumThreads) sum += p.dalpha[i];
  sum = lanes_sum(sum, kWarpSize);
  if (threadIdx.x % kWarpSize == 0) of_warps[threadIdx.x / kWarpSize] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  sum = 0;
  for (const float part : of_warps) sum += part;
  *a.dalpha = sum;
}

inline Status add_partials(const Args& a, const Partials& partials, cudaStream_t stream) {
  const unsigned columns = unsigned((a.cols + kSumThreads - 1) / kSumThreads);
  dyt_add_partials<<<columns + 1, kSumThreads, 0, stream>>>(a, partials);
  return launch_status();
}

}  // namespace ridge::dyt
