// What the rungs share: the numbers that a call makes before and after its rows.
#pragma once

#include "kernels/cross_entropy/rows.cuh"
#include "kernels/linear_cross_entropy/linear_cross_entropy.h"

namespace ridge::linear_cross_entropy {

using cross_entropy::kCountThreads, cross_entropy::Reduction;

inline Support supports_any(const Args& a) {
  if (const Support s = cross_entropy::supports_any(a.rows); !s) return s;
  return a.dim <= INT32_MAX ? kSupported : "counts dimensions up to 2^31";
}

// In the workspace: by what gradients are multiplied, the losses if the caller does not take them,
// and then what the rung needs.
struct Scratch {
  float *scale, *losses;
  char* rest;

  explicit Scratch(const Args& a)
      : scale(static_cast<float*>(a.workspace)),
        losses(a.rows.losses ? a.rows.losses : scale + kPackBytes / sizeof(float)),
        rest(static_cast<char*>(a.workspace) + bytes(a)) {}
  static size_t bytes(const Args& a) {
    const size_t losses = a.rows.losses ? 0 : size_t(a.rows.rows) * sizeof(float);
    return kPackBytes + (losses + kPackBytes - 1) / kPackBytes * kPackBytes;
  }
};

static __global__ void __launch_bounds__(kCountThreads)
    linear_cross_entropy_scale(cross_entropy::Args rows, float* scale) {
  const int count = rows.reduction == Reduction::mean ? cross_entropy::count_targets(rows) : 1;
  if (threadIdx.x == 0) *scale = rows.scale / float(count);
}

// launch_rows fills in all losses and gradients.
template <class F>
Status around_rows(const Args& a, cudaStream_t stream, F launch_rows) {
  const Scratch scratch(a);
  cross_entropy::Args rows = a.rows;
  rows.losses = scratch.losses;
  linear_cross_entropy_scale<<<1, kCountThreads, 0, stream>>>(rows, scratch.scale);
  if (const Status s = launch_status(); !s) return s;
  if (const Status s = launch_rows(scratch); !s) return s;
  cross_entropy::cross_entropy_reduce<<<1, kCountThreads, 0, stream>>>(rows);
  return launch_status();
}

}  // namespace ridge::linear_cross_entropy
