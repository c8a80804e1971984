#include <cmath>

#include "kernels/pool/window.h"
#include "ladder/ladder.h"

namespace ridge::pool {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const CaseWindows w(c);
  const bool mean = is_mean(c.op), backward = is_backward(c.op);
  HostTensor& out = t.back();
  out.values.assign(out.values.size(), 0);
  out.magnitude.assign(out.values.size(), 0);
  const std::vector<double>& x = t[0].values;
  const std::vector<double>& dy = t[mean ? 0 : 1].values;
  for (int64_t plane = 0; plane < w.planes; ++plane)
    for (int64_t o = 0; o < w.outputs; ++o) {
      const std::vector<int64_t> inside = w.window(o);
      const auto result = size_t(plane * w.outputs + o);
      const auto at = [&](int64_t i) { return size_t(plane * w.inputs + i); };
      const double size = mean && c.flag("count_padding") ? w.size : double(inside.size());
      if (!mean) {
        int64_t best = inside.empty() ? -1 : inside.front();
        double most = -INFINITY;
        for (const int64_t i : inside)
          if (x[at(i)] > most || std::isnan(x[at(i)])) most = x[at(i)], best = i;
        if (!backward) {
          out.values[result] = most;
          out.magnitude[result] = std::fabs(most);
        } else if (best >= 0) {
          out.values[at(best)] += dy[result];
          out.magnitude[at(best)] += std::fabs(dy[result]);
        }
        continue;
      }
      for (const int64_t i : inside)
        if (backward) {
          out.values[at(i)] += dy[result] / size;
          out.magnitude[at(i)] += std::fabs(dy[result] / size);
        } else {
          out.values[result] += x[at(i)] / size;
          out.magnitude[result] += std::fabs(x[at(i)] / size);
        }
    }
}

}  // namespace ridge::pool
