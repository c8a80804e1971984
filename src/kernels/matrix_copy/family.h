// What tests, benchmarks and the command line see of matrix_copy.
#pragma once

#include "kernels/matrix_copy/matrix_copy.h"
#include "ladder/erase.h"

namespace ridge::matrix_copy {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return matrix_copy::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::matrix_copy
