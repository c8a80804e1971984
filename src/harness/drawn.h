// Cases that nobody thought of: drawn at random from what an operator's description allows.
#pragma once

#include <optional>
#include <vector>

#include "core/device_info.h"
#include "ladder/ladder.h"

namespace ridge::harness {

// What a case may cost: its elements and operations, as its workload tells them.
struct MostWork {
  double elements = 1 << 18, operations = 1 << 24;
};

// Draws cases of a ladder's operators. Each starts from one of the operator's tests, because a
// description does not say everything, and has some of the following anew: sizes (0, 1, primes,
// next to powers of two), parameters, formats, optional tensors, distributions, and how tensors lie
// in memory (shifted, padded, apart, transposed, an output in its input's place).
class DrawnCases {
 public:
  DrawnCases(const Ladder& ladder, const DeviceInfo& device, const MostWork& most = {});
  // The case that belongs to this seed: the same in every run. What a description, a family or its
  // `bind` refuses is drawn again. Nothing, if that is all, or takes too much work.
  std::optional<Case> operator()(uint64_t seed) const;

 private:
  bool is_possible(Case& c) const;

  const Ladder& ladder_;
  DeviceInfo device_;
  MostWork most_;
  std::vector<std::vector<Case>> tests_;  // of each operator
};

}  // namespace ridge::harness
