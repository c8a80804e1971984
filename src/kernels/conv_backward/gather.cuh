// What the rungs share: the output that a tap leads to from an input, and the sums of dy.
#pragma once

#include "kernels/conv/boxes.cuh"
#include "kernels/conv_backward/conv_backward.h"

namespace ridge::conv_backward {

using conv::kDirections;
using conv::kThreads;

// The output of one direction whose tap `tap` reads input `in`; -1: none.
__device__ __forceinline__ int output_of(const conv::Direction& along, int in, int tap) {
  const int from = in + along.padding - tap * along.dilation;
  const int out = from / along.stride;
  return from >= 0 && out * along.stride == from && out < along.out ? out : -1;
}

template <class T>
__device__ __forceinline__ const T* dy_of(const Args& a, int image, int filter) {
  return static_cast<const T*>(a.at.y) + image * a.at.y_steps.batch + filter * a.at.y_steps.channel;
}
__device__ __forceinline__ int64_t offset(const conv::Steps& s, const int (&at)[kDirections]) {
  return at[0] * s.at[0] + at[1] * s.at[1] + at[2] * s.at[2];
}

// The sum over a warp, in all lanes.
__device__ __forceinline__ float warp_total(float sum) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  return sum;
}

// A pixel of y, counted along the width first.
__device__ __forceinline__ conv::Pixel pixel_at(const Args& a, int index) {
  const int row = index / a.at.along[2].out, plane = row / a.at.along[1].out;
  return {{plane, row - plane * a.at.along[1].out, index - row * a.at.along[2].out}};
}

// dbias: one block per filter.
template <class T>
__global__ void __launch_bounds__(kThreads) conv_backward_bias(Args a) {
  __shared__ float totals[kThreads / 32];
  float sum = 0;
  for (int image = 0; image < a.at.batch; ++image) {
    const T* const dy = dy_of<T>(a, image, int(blockIdx.x));
    for (int i = int(threadIdx.x); i < int(a.at.pixels()); i += kThreads)
      sum += to_float(dy[offset(a.at.y_steps, pixel_at(a, i).out)]);
  }
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < kThreads / 32; ++w) sum += totals[w];
  a.dbias[blockIdx.x] = sum;
}
template <class T>
void launch_bias(const Args& a, cudaStream_t stream) {
  if (a.dbias) conv_backward_bias<T><<<unsigned(a.at.filters()), kThreads, 0, stream>>>(a);
}

// `inputs`: boxes over dx, one channel each.
inline conv::Boxes boxes_of_inputs(const Args& a) {
  conv::Args inputs = a.at;
  for (conv::Direction& d : inputs.along) d.out = d.in;
  inputs.group_filters = inputs.group_channels;
  return conv::boxes_of(inputs, 1, 1);
}

}  // namespace ridge::conv_backward
