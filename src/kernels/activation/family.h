// What tests, benchmarks and the command line see of activation.
#pragma once

#include "kernels/activation/activation.h"
#include "ladder/erase.h"

namespace ridge::activation {

// Case::op counts the functions forward, then the same backward.
constexpr Function function_of(const Case& c) { return Function(c.op % kFunctions); }
constexpr bool is_backward(const Case& c) { return c.op >= kFunctions; }

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return activation::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  std::optional<double> input(const Case&, size_t tensor, int64_t index) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::activation
