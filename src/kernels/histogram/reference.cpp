#include "kernels/histogram/histogram.h"
#include "ladder/ladder.h"

namespace ridge::histogram {

void reference(const Case& c, std::vector<HostTensor>& t) {
  std::vector<double>& counts = t[1].values;
  const int bins = int(c.size("bins"));
  std::fill(counts.begin(), counts.end(), 0.0);
  if (bins == 0) return;
  const bool even = c.op == kEven;
  const EvenBins even_bin =
      even ? EvenBins(float(c.number("lower")), float(c.number("upper")), bins) : EvenBins();
  for (const double x : t[0].values) {
    const double bin = even ? even_bin(float(x)) : x;
    if (bin < bins) ++counts[size_t(bin)];
  }
}

}  // namespace ridge::histogram
