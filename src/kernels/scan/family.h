// What tests, benchmarks and the command line see of scan.
#pragma once

#include "kernels/scan/scan.h"
#include "ladder/erase.h"

namespace ridge::scan {

// In the order of Family::operators.
constexpr Combine combine_of(const Case& c) { return c.op < 2 ? Combine::sum : Combine::max; }
constexpr bool is_inclusive(const Case& c) { return c.op % 2 == 0; }

// Small integers, whose sums no rounding touches: a lost element cannot hide in a tolerance.
constexpr int64_t kExactFrom = 1 << 13;  // elements
inline bool has_exact_sums(const Case& c) {
  return is_floating(c.dtype) && !c.specials && (c.dtype != Dtype::f32 || c.shape[0] >= kExactFrom);
}

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return scan::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  std::optional<double> input(const Case&, size_t tensor, int64_t index) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::scan
