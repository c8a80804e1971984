#include <cmath>

#include "kernels/segmented_scan/variants.h"
#include "ladder/ladder.h"

namespace ridge::segmented_scan {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const auto& x = t[0].values;
  const auto& marks = t[1].values;
  auto& out = t[2];
  out.magnitude.resize(out.values.size());
  double sum = 0, magnitude = 0, additions = 0;  // of the segment so far
  for (size_t i = 0; i < x.size(); ++i) {
    if (i > 0 && (is_by_key(c.op) ? marks[i] != marks[i - 1] : marks[i] != 0))
      sum = magnitude = additions = 0;
    const double through = c.dtype == Dtype::i32
                               ? double(int32_t(uint32_t(int64_t(sum)) + uint32_t(int64_t(x[i]))))
                               : sum + x[i];
    out.values[i] = is_inclusive(c.op) ? through : sum;
    // One addition per element where a thread adds up its segment; in a tile, at most 33 (see
    // scan).
    additions += 1;
    const double size = magnitude + std::fabs(x[i]);
    out.magnitude[i] = (additions + 33) * (is_inclusive(c.op) ? size : magnitude);
    sum = through;
    magnitude = size;
  }
}

}  // namespace ridge::segmented_scan
