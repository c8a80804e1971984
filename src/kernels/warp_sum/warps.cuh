// One warp per row: what the rungs of warp_sum have in common.
#pragma once

#include "kernels/warp_sum/warp_sum.h"

namespace ridge::warp_sum {

constexpr int kWarps = 8;  // a block

// Kernels take (args), in blocks of kWarps x 32.
template <class F>
Status with_type(const Args& a, cudaStream_t stream, F kernel_of) {
  if (a.rows == 0) return Status::ok();
  const auto launch = [&](auto kernel) {
    kernel<<<unsigned((a.rows + kWarps - 1) / kWarps), dim3(kLanes, kWarps), 0, stream>>>(a);
    return launch_status();
  };
  return a.dtype == Dtype::i32 ? launch(kernel_of(int())) : launch(kernel_of(float()));
}
constexpr Support takes(const Args& a) {
  return a.dtype == Dtype::i32 || a.dtype == Dtype::f32 ? kSupported : "takes i32 and f32";
}

}  // namespace ridge::warp_sum
