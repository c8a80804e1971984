// What tests, benchmarks and the command line see of launch_overhead.
#pragma once

#include "kernels/launch_overhead/launch_overhead.h"
#include "ladder/erase.h"

namespace ridge::launch_overhead {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return launch_overhead::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::launch_overhead
