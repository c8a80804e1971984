#include "kernels/conv/shape.h"

#include <string>

namespace ridge::conv {
namespace {

int64_t place(bool channels_last, int64_t outer, int64_t channel, int64_t channels, int64_t pixel,
              int64_t pixels) {
  return channels_last ? (outer * pixels + pixel) * channels + channel
                       : (outer * channels + channel) * pixels + pixel;
}

}  // namespace

CaseShape::CaseShape(const Case& c)
    : op(Op(c.op)),
      batch(c.size("batch")),
      channels(c.size("channels")),
      filters(c.size("filters")),
      groups(c.integer("groups")),
      group_channels(c.size("group_channels")) {
  const int directions = directions_of(op);
  for (int d = 0; d < directions; ++d) {
    const std::string name = directions == 1 ? "length" : kDirectionNames[kDirections - directions + d];
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
int64_t CaseShape::taps() const {
  return int64_t(along[0].kernel) * along[1].kernel * along[2].kernel;
}
int64_t CaseShape::in_pixels() const { return int64_t(along[0].in) * along[1].in * along[2].in; }
int64_t CaseShape::pixels() const { return int64_t(along[0].out) * along[1].out * along[2].out; }

int64_t CaseShape::x_at(int64_t image, int64_t channel, int64_t pixel) const {
  return place(is_channels_last(op), image, channel, channels, pixel, in_pixels());
}
int64_t CaseShape::w_at(int64_t filter, int64_t channel, int64_t tap) const {
  return place(is_channels_last(op), filter, channel, group_channels, tap, taps());
}
int64_t CaseShape::y_at(int64_t image, int64_t filter, int64_t pixel) const {
  return place(is_channels_last(op), image, filter, filters, pixel, pixels());
}
int64_t CaseShape::input_of(int64_t pixel, int64_t tap) const {
  int64_t index = 0, step = 1;
  for (int d = kDirections - 1; d >= 0; --d) {
    const Direction& at = along[d];
    const int64_t in =
        pixel % at.out * at.stride + tap % at.kernel * at.dilation - at.padding;
    if (in < 0 || in >= at.in) return -1;
    index += in * step;
    step *= at.in;
    pixel /= at.out;
    tap /= at.kernel;
  }
  return index;
}

}  // namespace ridge::conv
