#include "kernels/transpose/family.h"

namespace ridge::transpose {

void Family::reference(const Case& c, std::vector<HostTensor>& t) const {
  const size_t n = c.shape.size();
  const int64_t batch = n == 3 ? c.shape[0] : 1, rows = c.shape[n - 2], cols = c.shape[n - 1];
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        t[1].values[size_t((b * cols + j) * rows + i)] =
            t[0].values[size_t((b * rows + i) * cols + j)];
}

}  // namespace ridge::transpose
