// What tests, benchmarks and the command line see of adamw.
#pragma once

#include "kernels/adamw/adamw.h"
#include "ladder/erase.h"

namespace ridge::adamw {

// Elements before the gradients in their array. Not 0 in a third of the cases with many tensors, so
// that the arrays of a tensor are at different places of a 16-byte pack.
constexpr int64_t gradient_shift(const Case& c) { return c.op == 1 && c.seed % 3 == 0 ? 3 : 0; }

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return adamw::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::adamw
