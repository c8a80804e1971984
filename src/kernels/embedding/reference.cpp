#include <cmath>

#include "core/number.h"
#include "ladder/ladder.h"

namespace ridge::embedding {

void reference(const Case& c, std::vector<HostTensor>& t) {
  const auto n = size_t(c.size("tokens")), vocab = size_t(c.size("vocab"));
  const auto dim = size_t(c.size("dim"));
  const auto& tokens = t[0].values;
  if (c.def->name == "embedding") {
    for (size_t i = 0; i < n; ++i)
      for (size_t d = 0; d < dim; ++d)
        t[2].values[i * dim + d] = t[1].values[size_t(tokens[i]) * dim + d];
    return;
  }
  HostTensor& sums = t[2];
  std::vector<double> terms(vocab, 0);  // added to a row
  sums.magnitude.resize(sums.values.size());
  for (size_t k = 0; k < sums.values.size(); ++k) sums.magnitude[k] = std::fabs(sums.values[k]);
  for (size_t i = 0; i < n; ++i) {
    const auto row = size_t(tokens[i]);
    ++terms[row];
    for (size_t d = 0; d < dim; ++d) {
      sums.values[row * dim + d] += t[1].values[i * dim + d];
      sums.magnitude[row * dim + d] += std::fabs(t[1].values[i * dim + d]);
    }
  }
  // A rounding for each term, relative to the sizes of all; and atomics make subnormals 0.
  const double flushed = 0x1p-126 / unit_roundoff(Dtype::f32);
  for (size_t row = 0; row < vocab; ++row)
    for (size_t d = 0; d < dim; ++d) {
      double& magnitude = sums.magnitude[row * dim + d];
      magnitude = terms[row] * (magnitude + flushed);
    }
}

}  // namespace ridge::embedding
