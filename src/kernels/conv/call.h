// From a call of a convolution, or of one of its gradients, to the arguments of kernels.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "kernels/conv/conv.h"
#include "operator/call.h"
#include "operator/check.h"

namespace ridge::conv {

constexpr int64_t kMostSize = (int64_t(1) << 31) - 1;

// A parameter of one direction; a later one may leave it to the first.
inline int64_t parameter(const Call& call, const char* name, const std::string& direction,
                         bool is_first, int64_t least) {
  const int64_t common = call.integer(name);
  if (is_first) return common;
  const int64_t own = call.integer(name + ("_" + direction));
  return own >= least ? own : common;
}

inline Steps steps_of(const Tensor& t, int directions, bool channels_last) {
  const int first = channels_last ? 1 : 2;
  Steps steps = {.batch = t.strides[0], .channel = t.strides[channels_last ? t.rank - 1 : 1]};
  for (int d = 0; d < directions; ++d)
    steps.at[kDirections - directions + d] = t.strides[size_t(first + d)];
  return steps;
}

// Sizes, steps and y; x and y may be their gradients. Messages name them as the convolution does.
inline Status args_of(const Call& call, int directions, bool channels_last, const Tensor& x,
                      const Tensor& y, Args& args) {
  const int64_t groups = call.integer("groups");
  const int64_t channels = call.size("channels"), filters = call.size("filters");
  const int64_t group_channels = call.size("group_channels");
  ops::Check check(call.op().name.c_str());
  check.that(groups >= 1 && channels % groups == 0 && filters % groups == 0, [&] {
    return "groups is " + std::to_string(groups) + "; it must divide the " +
           std::to_string(channels) + " channels of x and the " + std::to_string(filters) +
           " filters";
  });
  check.that(groups < 1 || group_channels == channels / groups, [&] {
    return "w has " + std::to_string(group_channels) + " channels; with groups " +
           std::to_string(groups) + " and x of " + std::to_string(channels) +
           " channels, it must have " + std::to_string(channels / groups);
  });
  std::array<int64_t, 3> sizes = {call.size("batch"), channels, filters};
  args.x_steps = steps_of(x, directions, channels_last);
  args.y_steps = steps_of(y, directions, channels_last);
  args.y = y.data;
  double taps = 1;
  bool fits = std::max({sizes[0], sizes[1], sizes[2]}) <= kMostSize / 2;
  for (int d = 0; d < directions; ++d) {
    const std::string name =
        directions == 1 ? "length" : kDirectionNames[kDirections - directions + d];
    const int64_t in = call.size(name), out = call.size("out_" + name);
    const int64_t kernel = call.size(directions == 1 ? "kernel" : "kernel_" + name);
    const int64_t stride = parameter(call, "stride", name, d == 0, 1);
    const int64_t padding = parameter(call, "padding", name, d == 0, 0);
    const int64_t dilation = parameter(call, "dilation", name, d == 0, 1);
    const int64_t wanted = out_size(in, kernel, stride, padding, dilation);
    check.that(out == wanted, [&] {
      return "y has " + name + " " + std::to_string(out) + "; x of " + std::to_string(in) +
             ", a kernel of " + std::to_string(kernel) + ", stride " + std::to_string(stride) +
             ", padding " + std::to_string(padding) + " and dilation " + std::to_string(dilation) +
             " make " + std::to_string(wanted);
    });
    taps *= double(kernel);
    fits = fits && in + 2 * padding <= kMostSize / 4 && kernel * dilation <= kMostSize / 4;
    if (fits)
      args.along[kDirections - directions + d] = {int(in),     int(kernel),  int(out),
                                                  int(stride), int(padding), int(dilation)};
  }
  check.that(taps <= double(kMostSize / 2), "filters must have fewer than 2^30 taps");
  check.that(fits,
             "sizes must be below 2^29, also with padding and dilation, and below 2^30 for images, "
             "channels and filters");
  if (!check) return check.status();
  args.batch = int(sizes[0]);
  args.groups = int(groups);
  args.group_channels = int(group_channels);
  args.group_filters = int(filters / groups);
  args.w_channel = channels_last ? 1 : args.taps();
  args.w_tap = channels_last ? group_channels : 1;
  return Status::ok();
}

}  // namespace ridge::conv
