// What tests, benchmarks and the command line see of dropout.
#pragma once

#include "kernels/dropout/dropout.h"
#include "ladder/erase.h"

namespace ridge::dropout {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return dropout::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::dropout
