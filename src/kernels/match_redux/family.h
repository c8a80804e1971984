// What tests, benchmarks and the command line see of match_redux.
#pragma once

#include "kernels/match_redux/match_redux.h"
#include "ladder/erase.h"

namespace ridge::match_redux {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return match_redux::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::match_redux
