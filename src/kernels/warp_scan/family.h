// What tests, benchmarks and the command line see of warp_scan.
#pragma once

#include "kernels/warp_scan/warp_scan.h"
#include "ladder/erase.h"

namespace ridge::warp_scan {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return warp_scan::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::warp_scan
