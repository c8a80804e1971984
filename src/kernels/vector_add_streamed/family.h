// What tests, benchmarks and the command line see of vector_add_streamed.
#pragma once

#include "kernels/vector_add_streamed/vector_add_streamed.h"
#include "ladder/erase.h"

namespace ridge::vector_add_streamed {

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return vector_add_streamed::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::vector_add_streamed
