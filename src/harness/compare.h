// Compares results with the truth: how far each element may be off, and which elements are wrong.
#pragma once

#include <string>
#include <vector>

#include "ladder/ladder.h"

namespace ridge::harness {

enum class Verdict : uint8_t { right, wrong, unsupported, failed };

struct Verification {
  Verdict verdict = Verdict::right;
  std::string message;  // what is wrong, or why it is unsupported
  double worst = 0;     // the largest error, in tolerances
};

// An element of an output whose truth is known.
struct Sample {
  int64_t index = 0;
  Truth truth;
};

// How far a result may be from element `index` of a reference.
double tolerance_of(const HostTensor& tensor, int64_t index);

// All elements of tensor `t`, which the reference has.
Verification compare(const HostTensor& reference, const Elements& results, size_t t);
// Some of them.
Verification compare(const std::vector<Sample>& samples, const Elements& results, size_t t);

}  // namespace ridge::harness
