#include <cmath>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/truth.h"
#include "ladder/ladder.h"

namespace ridge::gemm {
namespace {

// The elements of a tensor, if the case has it.
const double* values_of(const std::vector<HostTensor>& tensors, const char* name) {
  for (const HostTensor& t : tensors)
    if (t.spec.name == name) return t.values.data();
  return nullptr;
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const auto batches = size_t(c.size("batch")), m = size_t(c.size("m")), n = size_t(c.size("n")),
             k = size_t(c.size("k"));
  const size_t cols = c.op == kSwiglu ? 2 * n : n;                              // of b
  const auto& a = t[0].values;                                                  // (batch, m, k)
  const auto& b = t[1].values;                                                  // (batch, k, cols)
  HostTensor& d = t[2];                                                         // (batch, m, n)
  const double* const bias = values_of(t, "bias");                              // (batch, cols)
  const double* const row_scale = values_of(t, "row_scale");                    // (batch, m)
  const double* const col_scale = values_of(t, "col_scale");                    // (batch, n)
  const double* const added = values_of(t, "c");                                // (batch, m, n)
  HostTensor* const amax = t.back().spec.name == "amax" ? &t.back() : nullptr;  // (batch, m)
  d.magnitude.assign(d.values.size(), 0);
  if (amax) amax->magnitude.assign(amax->values.size(), 0);

  const auto sum = [&](size_t batch, size_t row, size_t col) {
    Truth all;
    for (size_t j = 0; j < k; ++j) {
      const double product = a[(batch * m + row) * k + j] * b[(batch * k + j) * cols + col];
      all.value += product;
      all.magnitude += std::fabs(product);
    }
    return all;
  };
  const auto bias_at = [&](size_t batch, size_t col) {
    return bias ? bias[batch * cols + col] : 0;
  };
  const auto element = [&](size_t batch, size_t row, size_t col) {
    if (c.op == kSwiglu)
      return gated(c, sum(batch, row, 2 * col), bias_at(batch, 2 * col),
                   sum(batch, row, 2 * col + 1), bias_at(batch, 2 * col + 1));
    return finished(c, sum(batch, row, col),
                    {.row_scale = row_scale ? row_scale[batch * m + row] : 1,
                     .col_scale = col_scale ? col_scale[batch * n + col] : 1,
                     .bias = bias_at(batch, col),
                     .c = added ? added[(batch * m + row) * n + col] : 0});
  };
  for (size_t batch = 0; batch < batches; ++batch)
    for (size_t row = 0; row < m; ++row) {
      Truth most;
      for (size_t col = 0; col < n; ++col) {
        const Truth truth = element(batch, row, col);
        const size_t i = (batch * m + row) * n + col;
        d.values[i] = truth.value;
        d.magnitude[i] = truth.magnitude;
        most = larger(most, truth);
      }
      if (!amax) continue;
      amax->values[batch * m + row] = most.value;
      amax->magnitude[batch * m + row] = most.magnitude;
    }
}

}  // namespace ridge::gemm
