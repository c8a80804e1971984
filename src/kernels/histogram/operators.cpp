#include "operator/description.h"

namespace ridge::histogram {

// histogram.h knows the order.
Operators operators() {
  const TensorDef counts = {.name = "counts",
                            .role = Role::out,
                            .shape = "bins",
                            .formats = {Dtype::u32},
                            .layout = Layout::contiguous};
  const std::vector<DimensionDef> dimensions = {{"n", "elements"}, {"bins", "counters"}};
  const std::vector<std::string> distributions = {"uniform", "equal", "skewed", "runs"};
  const std::string filled =
      " Distributions of x for tests and climbs: every bin alike (uniform), one value (equal), "
      "bin b half as often as bin b - 1 (skewed), the same value 64 times in a row (runs).";
  return {
      {.name = "histogram",
       .formula = "counts[b] = number of i with x[i] = b",
       .dimensions = dimensions,
       .tensors = {{.name = "x",
                    .shape = "n",
                    .formats = {Dtype::u8, Dtype::u32},
                    .layout = Layout::contiguous},
                   counts},
       .distributions = distributions,
       .notes = "Values of `bins` and more are not counted. At most 2^32 - 1 elements." + filled},
      {.name = "histogram_even",
       .formula = "counts[b] = number of i with x[i] in interval b of [lower, upper)",
       .dimensions = dimensions,
       .tensors =
           {{.name = "x", .shape = "n", .formats = {Dtype::f32}, .layout = Layout::contiguous},
            counts},
       .parameters = {{.name = "lower", .otherwise = 0, .meaning = "start of the first interval"},
                      {.name = "upper",
                       .otherwise = 1,
                       .not_under = "lower",
                       .meaning = "end of the last interval, not part of it"}},
       .distributions = distributions,
       .notes = "The interval of x is the whole part of (x - lower) * (bins / (upper - lower)), "
                "computed in f32, at most bins - 1. NaN and numbers outside of [lower, upper) "
                "are not counted. At most 2^32 - 1 elements." +
                filled}};
}

}  // namespace ridge::histogram
