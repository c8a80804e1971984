#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/topk/topk.h"
#include "ladder/ladder.h"

namespace ridge::topk {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const auto cols = size_t(c.size("cols")), k = size_t(c.size("k"));
  const size_t rows = k == 0 ? 0 : t[1].values.size() / k;
  const bool largest = c.flag("largest");
  std::vector<int32_t> order(cols);
  for (size_t r = 0; r < rows; ++r) {
    const double* const x = t[0].values.data() + r * cols;
    // NaN is larger than every number.
    const auto is_larger = [](double a, double b) {
      return std::isnan(a) ? !std::isnan(b) : a > b;
    };
    std::iota(order.begin(), order.end(), 0);
    const auto end = order.begin() + int64_t(k);
    std::partial_sort(order.begin(), end, order.end(), [&](int32_t i, int32_t j) {
      const double a = x[i], b = x[j];
      if (is_larger(a, b)) return largest;
      if (is_larger(b, a)) return !largest;
      return i < j;
    });
    if (!c.flag("sorted")) std::sort(order.begin(), end);
    for (size_t i = 0; i < k; ++i) {
      t[1].values[r * k + i] = x[order[i]];
      t[2].values[r * k + i] = order[i];
    }
  }
}

}  // namespace ridge::topk
