#include "harness/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/number.h"
#include "harness/convert.h"

namespace ridge::harness {
namespace {

double tolerance_for(const TensorSpec& spec, double magnitude) {
  return (spec.rounding * unit_roundoff(spec.dtype) + spec.arithmetic * unit_roundoff(Dtype::f32)) *
             magnitude +
         spec.rounding * smallest(spec.dtype);
}

// The error in tolerances; more than 1 is wrong. Written so that a NaN never passes. `wanted` is
// the reference, rounded.
double error_of(const TensorSpec& spec, double got, double wanted, double reference,
                double magnitude) {
  if (std::isnan(wanted)) return std::isnan(got) ? 0 : INFINITY;
  if (got == wanted) return 0;
  // A number that rounds to infinity may stop at the largest number below it, and the reverse.
  const double tolerance = tolerance_for(spec, magnitude);
  const double error = std::fabs(got - reference);
  if (std::isinf(got) && std::isfinite(reference)) {
    const double nearest = std::copysign(std::fabs(reference) + tolerance, reference);
    return rounded(spec.dtype, nearest) == got ? 1 : INFINITY;
  }
  return error <= tolerance ? (tolerance > 0 ? error / tolerance : 0)
                            : (std::isnan(error) || tolerance == 0 ? INFINITY : error / tolerance);
}

double magnitude_of(const HostTensor& tensor, int64_t index) {
  return tensor.magnitude.empty() ? std::fabs(tensor.values[size_t(index)])
                                  : tensor.magnitude[size_t(index)];
}

// What was seen of a tensor so far.
class Tally {
 public:
  explicit Tally(const TensorSpec& spec) : spec_(spec) {}

  void see(int64_t index, double got, double wanted, const Truth& truth) {
    const double error = error_of(spec_, got, wanted, truth.value, truth.magnitude);
    ++seen_;
    worst_ = std::max(worst_, error);
    if (error <= 1) return;
    if (wrong_++ == 0) first_ = {index, got, wanted};
  }
  Verification verdict(const char* of_what) const {
    if (wrong_ == 0) return {.worst = worst_};
    char text[256];
    std::snprintf(text, sizeof text, "%s is %.9g, should be %.9g (%lld of %lld%s wrong)",
                  place(spec_, first_.index).c_str(), first_.got, first_.wanted, (long long)wrong_,
                  (long long)seen_, of_what);
    return {.verdict = Verdict::wrong, .message = text, .worst = worst_};
  }

 private:
  struct Miss {
    int64_t index = 0;
    double got = 0, wanted = 0;
  };
  const TensorSpec& spec_;
  Miss first_;
  int64_t seen_ = 0, wrong_ = 0;
  double worst_ = 0;
};

}  // namespace

double tolerance_of(const HostTensor& tensor, int64_t index) {
  return tolerance_for(tensor.spec, magnitude_of(tensor, index));
}

Verification compare(const HostTensor& reference, const Elements& results, size_t t) {
  Tally tally(reference.spec);
  std::array<double, 1024> got, wanted;
  for (int64_t at = 0; at < reference.elements(); at += int64_t(got.size())) {
    const auto length = size_t(std::min<int64_t>(got.size(), reference.elements() - at));
    results.read(t, at, 1, std::span(got).first(length));
    std::copy_n(reference.values.begin() + at, length, wanted.begin());
    round_all(reference.spec.dtype, std::span(wanted).first(length));
    for (size_t i = 0; i < length; ++i) {
      const int64_t index = at + int64_t(i);
      tally.see(index, got[i], wanted[i],
                {reference.values[size_t(index)], magnitude_of(reference, index)});
    }
  }
  return tally.verdict("");
}

Verification compare(const std::vector<Sample>& samples, const Elements& results, size_t t) {
  const TensorSpec& spec = results.spec(t);
  Tally tally(spec);
  for (const Sample& sample : samples)
    tally.see(sample.index, results.at(t, sample.index), rounded(spec.dtype, sample.truth.value),
              sample.truth);
  return tally.verdict(" samples");
}

}  // namespace ridge::harness
