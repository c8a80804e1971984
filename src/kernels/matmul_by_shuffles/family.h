// What tests, benchmarks and the command line see of matmul_by_shuffles.
#pragma once

#include "kernels/matmul_by_shuffles/matmul_by_shuffles.h"
#include "ladder/erase.h"

namespace ridge::matmul_by_shuffles {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return matmul_by_shuffles::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::matmul_by_shuffles
