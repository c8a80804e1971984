// What tests, benchmarks and the command line see of occupancy_vs_ilp.
#pragma once

#include "kernels/occupancy_vs_ilp/occupancy_vs_ilp.h"
#include "ladder/erase.h"

namespace ridge::occupancy_vs_ilp {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return occupancy_vs_ilp::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::occupancy_vs_ilp
