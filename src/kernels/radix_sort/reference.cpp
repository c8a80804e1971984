#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/radix_sort/radix_sort.h"
#include "ladder/ladder.h"

namespace ridge::radix_sort {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const std::vector<double>& keys = t[0].values;
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t(0));
  const auto is_less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  const bool descending = c.flag("descending");
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
    return descending ? is_less(keys[j], keys[i]) : is_less(keys[i], keys[j]);
  });
  const bool pairs = c.op == kPairs;
  for (size_t i = 0; i < order.size(); ++i) {
    t[pairs ? 2 : 1].values[i] = keys[order[i]];
    if (pairs) t[3].values[i] = t[1].values[order[i]];
  }
}

}  // namespace ridge::radix_sort
