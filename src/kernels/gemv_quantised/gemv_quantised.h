// y = W x, where W is quantised: kernels/quantisation/formats.h has the formats.
#pragma once

#include "kernels/quantisation/quantisation.h"

namespace ridge::gemv_quantised {

using quantisation::Format;
using quantisation::kFormatCount;
using quantisation::kFormats;
using quantisation::Rule;

struct Args {
  quantisation::Args w = {};  // (rows, cols); its x is not used, its dtype is that of x and y
  const void* x = nullptr;    // (cols)
  void* y = nullptr;          // (rows)
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

// W, each byte once; x comes from a cache.
inline double bytes(const Args& a) {
  return double(a.w.rows) * double(a.w.cols) * bits_of(a.w.element) / 8.0 +
         double(a.w.blocks.count) * (a.w.rule == Rule::ratio ? 4 : 1) +
         double(a.w.rows + a.w.cols) * double(size_of(a.w.dtype));
}

}  // namespace ridge::gemv_quantised
