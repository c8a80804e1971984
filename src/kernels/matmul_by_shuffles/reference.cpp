#include <cmath>

#include "kernels/matmul_by_shuffles/matmul_by_shuffles.h"
#include "ladder/ladder.h"

namespace ridge::matmul_by_shuffles {

void reference(const Case& c, std::vector<HostTensor>& t) {
  t[2].magnitude.resize(t[2].values.size());
  for (size_t m = 0; m < size_t(c.size("batch")); ++m)
    for (size_t i = 0; i < kEdge; ++i)
      for (size_t j = 0; j < kEdge; ++j) {
        double sum = 0, size = 0;
        for (size_t k = 0; k < kEdge; ++k) {
          const double product = t[0].values[m * kElements + i * kEdge + k] *
                                 t[1].values[m * kElements + k * kEdge + j];
          sum += product;
          size += std::fabs(product);
        }
        t[2].values[m * kElements + i * kEdge + j] = sum;
        t[2].magnitude[m * kElements + i * kEdge + j] = size;
      }
}

}  // namespace ridge::matmul_by_shuffles
