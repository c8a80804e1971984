#include <cmath>

#include "kernels/gemv_quantised/gemv_quantised.h"
#include "kernels/quantisation/owned.h"

namespace ridge::gemv_quantised {

void reference(const Case& c, std::vector<HostTensor>& all) {
  const quantisation::Tensors t = {all};
  const int64_t rows = c.size("rows"), cols = c.size("cols");
  const quantisation::Owned w = quantisation::read_from(kFormats[c.op], t, rows, cols);
  const auto& x = t["x"].values;  // (cols)
  HostTensor& y = t["y"];         // (rows)
  y.magnitude.resize(y.values.size());
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0, magnitude = 0;
    for (int64_t k = 0; k < cols; ++k) {
      const double product = dequantised(w.tensor, r * cols + k) * x[size_t(k)];
      sum += product;
      magnitude += std::fabs(product);
    }
    y.values[size_t(r)] = sum;
    y.magnitude[size_t(r)] = magnitude;
  }
}

}  // namespace ridge::gemv_quantised
