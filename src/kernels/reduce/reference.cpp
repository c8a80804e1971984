#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reduce/reduce.h"
#include "ladder/ladder.h"

namespace ridge::reduce {
namespace {

struct Truth {
  double value;
  double magnitude;  // what rounding errors are relative to
};

template <class Term>
Truth added(int64_t n, Term term) {
  Truth sum = {0, 0};
  for (int64_t i = 0; i < n; ++i) {
    sum.value += term(size_t(i));
    sum.magnitude += std::fabs(term(size_t(i)));
  }
  return sum;
}

// NaN wins: against numbers, and against later NaNs.
template <class Better>
int64_t best(const std::vector<double>& x, Better better) {
  int64_t at = -1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (at >= 0 && std::isnan(x[size_t(at)])) break;
    if (at < 0 || std::isnan(x[i]) || better(x[i], x[size_t(at)])) at = int64_t(i);
  }
  return at;
}

double least(Dtype dtype) {
  return dtype == Dtype::i32 ? double(INT32_MIN) : -std::numeric_limits<double>::infinity();
}
double most(Dtype dtype) {
  return dtype == Dtype::i32 ? double(INT32_MAX) : std::numeric_limits<double>::infinity();
}

// y: of a dot product; value: what count_equal counts.
Truth reduced(Kind kind, Dtype dtype, const std::vector<double>& x, const std::vector<double>& y,
              double value) {
  const auto n = int64_t(x.size());
  switch (kind) {
    case Kind::sum: return added(n, [&](size_t i) { return x[i]; });
    case Kind::dot: return added(n, [&](size_t i) { return x[i] * y[i]; });
    case Kind::norm_l1: return added(n, [&](size_t i) { return std::fabs(x[i]); });
    case Kind::mean: {
      const Truth sum = added(n, [&](size_t i) { return x[i]; });
      return {sum.value / double(n), sum.magnitude / double(n)};
    }
    case Kind::norm_l2: {
      const double norm = std::sqrt(added(n, [&](size_t i) { return x[i] * x[i]; }).value);
      return {norm, norm};
    }
    case Kind::product: {
      double product = 1;
      for (const double factor : x) product *= factor;
      return {product, std::fabs(product)};
    }
    case Kind::count_equal: return {double(std::count(x.begin(), x.end(), value)), 0};
    case Kind::argmax: return {double(best(x, std::greater<>())), 0};
    case Kind::max: {
      const int64_t at = best(x, std::greater<>());
      return {at < 0 ? least(dtype) : x[size_t(at)], 0};
    }
    case Kind::min: {
      const int64_t at = best(x, std::less<>());
      return {at < 0 ? most(dtype) : x[size_t(at)], 0};
    }
  }
  return {};
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const Kind kind = Kind(c.op);
  const double value = kind == Kind::count_equal ? c.number("value") : 0;
  const Truth truth = reduced(kind, c.dtype, t[0].values, t[1].values, value);
  t.back().values = {truth.value};
  t.back().magnitude = {truth.magnitude};
}

}  // namespace ridge::reduce
