// Convolutions of one, two and three dimensions, as networks compute them: the filter is not
// turned.
//   y[n, f, o] = bias[f] + sum over c, k of w[f, c, k] x[n, first(f) + c, o stride + k dilation -
//   padding]
// o and k have one number per direction. x is 0 outside of the image, and these zeros are
// multiplied like any other number: 0 times infinity is NaN. first(f) is the first channel of the
// filter's group.
//
// The kernels know only three directions: depth, height and width. What an operator lacks has size
// 1, so one kernel serves all of them.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::conv {

// In the order of operators().
enum class Op : uint8_t { conv1d, conv2d, conv3d, conv2d_nhwc };
constexpr int directions_of(Op op) { return op == Op::conv1d ? 1 : op == Op::conv3d ? 3 : 2; }
constexpr bool is_channels_last(Op op) { return op == Op::conv2d_nhwc; }

constexpr int kDirections = 3;
constexpr const char* kDirectionNames[kDirections] = {"depth", "height", "width"};

// One direction.
struct Direction {
  int in = 1, kernel = 1, out = 1;  // sizes
  int stride = 1, padding = 0, dilation = 1;

  // Where the first tap of output `o` reads.
  __host__ __device__ int first(int o) const { return o * stride - padding; }
  // How many inputs `outputs` of them reach over.
  __host__ __device__ int64_t reach(int outputs) const {
    return (outputs - int64_t(1)) * stride + (kernel - 1) * dilation + 1;
  }
};

constexpr int64_t out_size(int64_t in, int64_t kernel, int64_t stride, int64_t padding,
                           int64_t dilation) {
  const int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

// Elements from one to the next in every dimension.
struct Steps {
  int64_t batch = 0, channel = 0, at[kDirections] = {};
};

struct Args {
  const void* x = nullptr;     // (batch, channels, depth, height, width) by x_steps
  const void* w = nullptr;     // (filters, group_channels, depth, height, width) by w_*
  const void* bias = nullptr;  // (filters); null: zeros
  void* y = nullptr;           // (batch, filters, depth, height, width) by y_steps
  int batch = 0, groups = 1;
  int group_channels = 0, group_filters = 0;
  Direction along[kDirections];
  Steps x_steps, y_steps;
  int64_t w_channel = 0, w_tap = 0;  // elements from one channel, or tap, to the next
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // see 07_tensor_cores.cu
  size_t workspace_bytes = 0;

  __host__ __device__ int filters() const { return groups * group_filters; }
  __host__ __device__ int taps() const {
    return along[0].kernel * along[1].kernel * along[2].kernel;
  }
  __host__ __device__ int64_t filter_size() const { return int64_t(group_channels) * taps(); }
  __host__ __device__ int64_t pixels() const {  // of one image of y
    return int64_t(along[0].out) * along[1].out * along[2].out;
  }
  __host__ __device__ int64_t in_pixels() const {
    return int64_t(along[0].in) * along[1].in * along[2].in;
  }
};
using Rung = RungOf<Args>;

inline double products(const Args& a) {
  return double(a.batch) * double(a.filters()) * double(a.pixels()) * double(a.filter_size());
}
inline double bytes(const Args& a) {
  const double numbers =
      double(a.batch) * (double(a.groups) * a.group_channels * double(a.in_pixels()) +
                         double(a.filters()) * double(a.pixels())) +
      double(a.filters()) * double(a.filter_size());
  return numbers * double(size_of(a.dtype));
}

}  // namespace ridge::conv
