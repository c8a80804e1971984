// What tests, benchmarks and the command line see of rope.
#pragma once

#include "kernels/rope/rope.h"
#include "ladder/erase.h"

namespace ridge::rope {

// Bits of Case::op.
enum Op { kInterleaved = 1, kBackward = 2 };

// A key's head for four of the queries'.
constexpr int64_t key_heads(const Case& c) { return (c.shape[2] + 3) / 4; }
// Prompts start at 0, later tokens do not.
constexpr int64_t first_position(const Case& c) { return int64_t(c.seed % 3) * 5; }
double angle(int64_t position, int64_t pair, int64_t dim);

class Family : public Erased<Family> {
 public:
  Family();
  static std::span<const Rung* const> rungs() { return rope::rungs(); }
  static Args bind(const Case& c, std::span<void* const> tensors);

  Status check(const Case&) const override;
  Workload workload(const Case&) const override;
  std::optional<double> input(const Case&, size_t tensor, int64_t index) const override;
  void reference(const Case&, std::vector<HostTensor>&) const override;
};

}  // namespace ridge::rope
