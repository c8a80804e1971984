// What tests, benchmarks and the command line see of image.
#pragma once

#include "kernels/image/image.h"
#include "ladder/erase.h"

namespace ridge::image {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return image::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::image
