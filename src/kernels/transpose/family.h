// What tests, benchmarks and the command line see of transpose.
#pragma once

#include "kernels/transpose/transpose.h"
#include "ladder/erase.h"

namespace ridge::transpose {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return transpose::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::transpose
