// One warp per row of 32 elements: how the rungs of warp_sum and warp_scan are launched.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::warp_per_row {

constexpr int kRow = 32;
constexpr int kWarps = 8;  // of a block

// Kernels take (args), in blocks of kRow x kWarps.
template <class Args, class F>
Status with_type(const Args& a, cudaStream_t stream, F kernel_of) {
  if (a.rows == 0) return Status::ok();
  const auto launch = [&](auto kernel) {
    kernel<<<unsigned((a.rows + kWarps - 1) / kWarps), dim3(kRow, kWarps), 0, stream>>>(a);
    return launch_status();
  };
  return a.dtype == Dtype::i32 ? launch(kernel_of(int())) : launch(kernel_of(float()));
}
template <class Args>
constexpr Support takes(const Args& a) {
  return a.dtype == Dtype::i32 || a.dtype == Dtype::f32 ? kSupported : "takes i32 and f32";
}

}  // namespace ridge::warp_per_row
