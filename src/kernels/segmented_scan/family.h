// What tests, benchmarks and the command line see of segmented_scan.
#pragma once

#include "kernels/segmented_scan/segmented_scan.h"
#include "ladder/erase.h"

namespace ridge::segmented_scan {

// In the order of Family::operators.
constexpr bool is_inclusive(const Case& c) { return c.op % 2 == 0; }
constexpr bool is_by_key(const Case& c) { return c.op >= 2; }

// Of the segments in a case; the first has no head at all.
int32_t segment_of(const Case& c, int64_t index);

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return segmented_scan::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  std::optional<double> input(const Case&, size_t tensor, int64_t index) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::segmented_scan
