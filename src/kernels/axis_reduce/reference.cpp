#include <cmath>
#include <limits>

#include "kernels/axis_reduce/axis_reduce.h"
#include "ladder/ladder.h"

namespace ridge::axis_reduce {
namespace {

struct Truth {
  double value;
  double magnitude;  // what rounding errors are relative to
};

// x(a): element `a` of an axis.
template <class Element>
Truth reduced(Kind kind, int64_t axis, Element x) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  double sum = 0, sizes = 0, squares = 0, product = 1;
  double greatest = -kInf, least = kInf;
  int64_t place = -1;  // of the greatest
  for (int64_t a = 0; a < axis; ++a) {
    const double value = x(a);
    sum += value;
    sizes += std::fabs(value);
    squares += value * value;
    product *= value;
    // NaN wins, and stays.
    if (place < 0 || (!std::isnan(greatest) && !(value <= greatest))) greatest = value, place = a;
    if (!std::isnan(least) && !(value >= least)) least = value;
  }
  switch (kind) {
    case Kind::sum: return {sum, sizes};
    case Kind::max: return {greatest, 0};
    case Kind::min: return {least, 0};
    case Kind::mean: return {sum / double(axis), sizes / double(axis)};
    case Kind::product: return {product, std::fabs(product)};
    case Kind::argmax: return {double(place), 0};
    case Kind::norm_l1: return {sizes, sizes};
    case Kind::norm_l2: return {std::sqrt(squares), std::sqrt(squares)};
  }
  return {};
}

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& t) {
  const int64_t outer = c.size("outer"), axis = c.size("length"), inner = c.size("inner");
  const std::vector<double>& x = t[0].values;
  HostTensor& out = t[1];
  out.magnitude.resize(out.values.size());
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const Truth truth = reduced(Kind(c.op), axis,
                                  [&](int64_t a) { return x[size_t((o * axis + a) * inner + i)]; });
      out.values[size_t(o * inner + i)] = truth.value;
      out.magnitude[size_t(o * inner + i)] = truth.magnitude;
    }
}

}  // namespace ridge::axis_reduce
