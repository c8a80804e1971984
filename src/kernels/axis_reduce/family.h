// What tests, benchmarks and the command line see of axis_reduce.
#pragma once

#include "kernels/axis_reduce/axis_reduce.h"
#include "ladder/erase.h"

namespace ridge::axis_reduce {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return axis_reduce::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  std::optional<double> input(const Case&, size_t tensor, int64_t index) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::axis_reduce
