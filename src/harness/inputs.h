// Inputs from a seed: the same case always gets the same numbers, and each element can be made
// alone.
#pragma once

#include <vector>

#include "ladder/ladder.h"

namespace ridge::harness {

// The inputs of a case, made on demand.
class MadeInputs : public Elements {
 public:
  enum class Specials : uint8_t { as_the_case_says, none };
  MadeInputs(const Ladder& ladder, const Case& c, const Workload& workload,
             Specials specials = Specials::as_the_case_says);
  const TensorSpec& spec(size_t tensor) const override { return made_[tensor].spec; }
  void read(size_t tensor, int64_t first, int64_t step, std::span<double> to) const override;

 private:
  struct Made {
    TensorSpec spec;
    uint64_t seed = 0;
    bool structured = false;      // by the family's own function
    bool specials = false;        // some are NaN, infinite, …
    std::vector<double> choices;  // where a fill has only a few: all of them, rounded
  };
  void fill(const Made& made, int64_t first, int64_t step, std::span<double> to) const;
  void structure(size_t tensor, int64_t first, int64_t step, std::span<double> to) const;

  const Ladder& ladder_;
  Case case_;
  std::vector<Made> made_;
};

// Inputs filled and rounded to their dtype; outputs sized.
std::vector<HostTensor> make_inputs(const Ladder& ladder, const Case& c, const Workload& workload);

// The first `elements` of an input one after another, without specials: what timings run on.
std::vector<char> input_bytes(const Ladder& ladder, const Case& c, const Workload& workload,
                              size_t tensor, int64_t elements);

}  // namespace ridge::harness
