// What tests, benchmarks and the command line see of rainbow_table.
#pragma once

#include "kernels/rainbow_table/rainbow_table.h"
#include "ladder/erase.h"

namespace ridge::rainbow_table {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return rainbow_table::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::rainbow_table
