// The sizes of a case, for the reference, the truth of single elements and the cost.
#pragma once

#include "kernels/conv/conv.h"
#include "ladder/case.h"

namespace ridge::conv {

struct CaseShape {
  Op op;
  int64_t batch, channels, filters, groups, group_channels;
  Direction along[kDirections];

  explicit CaseShape(const Case& c);
  int64_t group_filters() const { return filters / groups; }
  int64_t taps() const;
  int64_t in_pixels() const;
  int64_t pixels() const;
  // Indices into tensors without padding. Pixels count along the width first.
  int64_t x_at(int64_t image, int64_t channel, int64_t pixel) const;
  int64_t w_at(int64_t filter, int64_t channel, int64_t tap) const;
  int64_t y_at(int64_t image, int64_t filter, int64_t pixel) const;
  // The pixel of x that tap `tap` of pixel `pixel` of y reads; -1: none.
  int64_t input_of(int64_t pixel, int64_t tap) const;
};

}  // namespace ridge::conv
