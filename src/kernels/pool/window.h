// The windows of a case, for the reference and the cost.
#pragma once

#include <string>

#include "kernels/pool/pool.h"
#include "ladder/case.h"

namespace ridge::pool {

struct CaseWindows {
  int64_t planes, inputs = 1, outputs = 1;  // of a plane
  double size = 1;                          // elements of a window, with padding
  conv::Direction along[conv::kDirections];

  explicit CaseWindows(const Case& c) : planes(c.size("batch") * c.size("channels")) {
    const int directions = directions_of(c.op);
    const auto kernel = int(c.integer("kernel"));
    for (int d = 0; d < directions; ++d) {
      const int at = conv::kDirections - directions + d;
      const std::string name = directions == 1 ? "length" : conv::kDirectionNames[at];
      along[at] = {.in = int(c.size(name)),
                   .kernel = kernel,
                   .out = int(c.size("out_" + name)),
                   .stride = c.integer("stride") >= 1 ? int(c.integer("stride")) : kernel,
                   .padding = int(c.integer("padding"))};
      inputs *= along[at].in;
      outputs *= along[at].out;
      size *= kernel;
    }
  }
  // The elements of window `o`, those along the width first.
  std::vector<int64_t> window(int64_t o) const {
    int first[conv::kDirections];
    for (int d = conv::kDirections - 1; d >= 0; --d) {
      first[d] = along[d].first(int(o % along[d].out));
      o /= along[d].out;
    }
    std::vector<int64_t> inside;
    for (int z = first[0]; z < first[0] + along[0].kernel; ++z)
      for (int y = first[1]; y < first[1] + along[1].kernel; ++y)
        for (int x = first[2]; x < first[2] + along[2].kernel; ++x)
          if (z >= 0 && z < along[0].in && y >= 0 && y < along[1].in && x >= 0 && x < along[2].in)
            inside.push_back((int64_t(z) * along[1].in + y) * along[2].in + x);
    return inside;
  }
};

}  // namespace ridge::pool
