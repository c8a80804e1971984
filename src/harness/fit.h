// Fits the constants of a cost (select/terms.h) to times that were measured.
#pragma once

#include <optional>
#include <span>

#include "select/terms.h"

namespace ridge::harness {

struct TimedTerms {
  Terms terms;
  double us = 0;
};

struct Fit {
  Constants constants = {};
  double median_error = 0, p90_error = 0;  // |predicted / measured - 1|
  int samples = 0;
};

// The constants, none negative, with the least squares of relative errors. Nothing, if there are
// too few samples to tell the constants apart from noise.
constexpr int kLeastSamples = 6;
std::optional<Fit> fit(std::span<const TimedTerms> samples);

}  // namespace ridge::harness
