// The gradients of conv1d, conv2d and conv3d.
//   dx[n, c, i] = sum over f, k of w[f, c, k] dy[n, f, o], where o stride + k dilation - padding =
//   i dw[f, c, k] = sum over n, o of dy[n, f, o] x[n, c, o stride + k dilation - padding] dbias[f]
//   = sum over n, o of dy[n, f, o]
#pragma once

#include "kernels/conv/conv.h"

namespace ridge::conv_backward {

// operators() lists conv1d_backward_data, 2d, 3d, then conv1d_backward_weights, and so on.
constexpr int directions_of(int op) { return op % 3 + 1; }
constexpr bool is_of_weights(int op) { return op >= 3; }

struct Args {
  bool weights = false;
  // The convolution: x (of weights), w (of data), dy in place of y, and their steps.
  conv::Args at;
  void* dx = nullptr;      // (batch, channels, depth, height, width) by at.x_steps
  float* dw = nullptr;     // (filters, group_channels, taps)
  float* dbias = nullptr;  // (filters); null: nobody wants it
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // of weights: see 02_implicit_gemm.cu
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

}  // namespace ridge::conv_backward
