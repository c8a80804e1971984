// What tests, benchmarks and the command line see of colour_pattern.
#pragma once

#include "kernels/colour_pattern/colour_pattern.h"
#include "ladder/erase.h"

namespace ridge::colour_pattern {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return colour_pattern::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::colour_pattern
