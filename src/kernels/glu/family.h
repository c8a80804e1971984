// What tests, benchmarks and the command line see of glu.
#pragma once

#include "kernels/glu/glu.h"
#include "ladder/erase.h"

namespace ridge::glu {

// Bits of Case::op.
enum Op { kGelu = 1, kBackward = 2, kPacked = 4, kOps = 8 };

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return glu::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::glu
