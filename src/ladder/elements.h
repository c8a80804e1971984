// What can be said about a case without an array of any of its tensors: single elements, their true
// values, and proofs about all elements.
#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <string>

#include "ladder/case.h"

namespace ridge {

// Elements of a case's tensors by index, counted in the order of the shape: inputs as they are
// made, rounded to their format, or results as they lie in memory. Several threads may read.
class Elements {
 public:
  virtual ~Elements() = default;
  virtual const TensorSpec& spec(size_t tensor) const = 0;
  // Elements `first`, `first + step`, … until `to` is full.
  virtual void read(size_t tensor, int64_t first, int64_t step, std::span<double> to) const = 0;
  double at(size_t tensor, int64_t index) const {
    double value = 0;
    read(tensor, index, 1, {&value, 1});
    return value;
  }
};

// One element of an output, in float64.
struct Truth {
  double value = 0;
  double magnitude = 0;  // what errors are relative to
};
inline Truth plain_truth(double value) { return {value, std::fabs(value)}; }

// Checks all results of a case, and says what is wrong with them; empty if they are right.
using Proof = std::function<std::string(const Elements& results)>;

}  // namespace ridge
