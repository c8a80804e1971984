// The sizes of a case, for the references, the truth of single elements and the cost.
#pragma once

#include <string>

#include "kernels/conv/conv.h"
#include "ladder/case.h"

namespace ridge::conv {

struct CaseShape {
  bool channels_last;
  int64_t batch, channels, filters, groups, group_channels;
  Direction along[kDirections];

  CaseShape(const Case& c, int directions, bool last)
      : channels_last(last),
        batch(c.size("batch")),
        channels(c.size("channels")),
        filters(c.size("filters")),
        groups(c.integer("groups")),
        group_channels(c.size("group_channels")) {
    for (int d = 0; d < directions; ++d) {
      const std::string name =
          directions == 1 ? "length" : kDirectionNames[kDirections - directions + d];
      const auto parameter = [&](const std::string& common, int64_t least) {
        const int64_t own = d == 0 ? -1 : c.integer(common + "_" + name);
        return int(own >= least ? own : c.integer(common));
      };
      along[kDirections - directions + d] = {
          .in = int(c.size(name)),
          .kernel = int(c.size(directions == 1 ? "kernel" : "kernel_" + name)),
          .out = int(c.size("out_" + name)),
          .stride = parameter("stride", 1),
          .padding = parameter("padding", 0),
          .dilation = parameter("dilation", 1)};
    }
  }

  Status check() const {
    const bool divides = groups >= 1 && channels % groups == 0 && filters % groups == 0;
    if (divides && group_channels == channels / groups) return Status::ok();
    return Error{2,
                 "groups must divide channels and filters, and group_channels is channels / "
                 "groups"};
  }

  int64_t group_filters() const { return filters / groups; }
  int64_t taps() const { return int64_t(along[0].kernel) * along[1].kernel * along[2].kernel; }
  int64_t in_pixels() const { return int64_t(along[0].in) * along[1].in * along[2].in; }
  int64_t pixels() const { return int64_t(along[0].out) * along[1].out * along[2].out; }

  // Indices into tensors without padding. Pixels count along the width first.
  int64_t x_at(int64_t image, int64_t channel, int64_t pixel) const {
    return place(image, channel, channels, pixel, in_pixels());
  }
  int64_t w_at(int64_t filter, int64_t channel, int64_t tap) const {
    return place(filter, channel, group_channels, tap, taps());
  }
  int64_t y_at(int64_t image, int64_t filter, int64_t pixel) const {
    return place(image, filter, filters, pixel, pixels());
  }
  // The pixel of x that tap `tap` of pixel `pixel` of y reads; -1: none.
  int64_t input_of(int64_t pixel, int64_t tap) const {
    int64_t index = 0, step = 1;
    for (int d = kDirections - 1; d >= 0; --d) {
      const Direction& at = along[d];
      const int64_t in = pixel % at.out * at.stride + tap % at.kernel * at.dilation - at.padding;
      if (in < 0 || in >= at.in) return -1;
      index += in * step;
      step *= at.in;
      pixel /= at.out;
      tap /= at.kernel;
    }
    return index;
  }

 private:
  int64_t place(int64_t outer, int64_t channel, int64_t all, int64_t pixel, int64_t count) const {
    return channels_last ? (outer * count + pixel) * all + channel
                         : (outer * all + channel) * count + pixel;
  }
};

inline CaseShape shape_of(const Case& c) {  // of the operators of conv itself
  return CaseShape(c, directions_of(Op(c.op)), is_channels_last(Op(c.op)));
}

}  // namespace ridge::conv
