#include <algorithm>
#include <cmath>

#include "kernels/softmax/softmax.h"
#include "ladder/ladder.h"

namespace ridge::softmax {
namespace {

struct Row {
  const double* a;   // x or y
  const double* dy;  // backward only
  double* out;
  double* magnitude;
  size_t cols;
};

// As PyTorch: a NaN or +inf makes its row NaN, and so does a row of nothing but -inf.
void forward(const Row& row, bool is_log) {
  double max = -INFINITY;
  for (size_t c = 0; c < row.cols; ++c) max = std::fmax(max, row.a[c]);
  double sum = 0;
  for (size_t c = 0; c < row.cols; ++c) sum += std::exp(row.a[c] - max);
  for (size_t c = 0; c < row.cols; ++c) {
    const double d = row.a[c] - max;
    row.out[c] = is_log ? d - std::log(sum) : std::exp(d) / sum;
    // An error of the sum, relative, is one of its logarithm, absolute.
    row.magnitude[c] = std::fabs(row.out[c]) + (is_log ? 1 : 0);
  }
}

void backward(const Row& row, bool is_log) {
  double sum = 0, magnitude = 0;
  for (size_t c = 0; c < row.cols; ++c) {
    const double term = is_log ? row.dy[c] : row.a[c] * row.dy[c];
    sum += term;
    magnitude += std::fabs(term);
  }
  for (size_t c = 0; c < row.cols; ++c) {
    const double y = row.a[c], dy = row.dy[c];
    row.out[c] = is_log ? dy - std::exp(y) * sum : y * (dy - sum);
    row.magnitude[c] = is_log ? std::fabs(dy) + std::exp(y) * magnitude
                              : std::fabs(y) * (std::fabs(dy) + magnitude);
  }
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const Op op = Op(c.op);
  const bool is_log = op == Op::log_softmax || op == Op::log_softmax_bwd;
  const auto rows = size_t(c.size("rows")), cols = size_t(c.size("cols"));
  HostTensor& out = t.back();
  out.magnitude.resize(out.values.size());
  for (size_t r = 0; r < rows && cols > 0; ++r) {
    const size_t at = r * cols;
    const Row row = {&t[0].values[at], is_backward(op) ? &t[1].values[at] : nullptr,
                     &out.values[at], &out.magnitude[at], cols};
    if (is_backward(op)) backward(row, is_log);
    else forward(row, is_log);
  }
}

}  // namespace ridge::softmax
