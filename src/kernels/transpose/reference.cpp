#include "ladder/ladder.h"

namespace ridge::transpose {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const int64_t batch = c.size("batch"), rows = c.size("rows"), cols = c.size("cols");
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        t[1].values[size_t((b * cols + j) * rows + i)] =
            t[0].values[size_t((b * rows + i) * cols + j)];
}

}  // namespace ridge::transpose
