#include "operator/description.h"

namespace ridge::segmented_reduce {

static const Formats kFloatsAndI32 = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32};

static Dtype widened(Dtype dtype) { return dtype == Dtype::i32 ? Dtype::i64 : dtype; }

static int64_t segments_times_mean(const std::vector<int64_t>& sizes) {
  return sizes[0] * sizes[1];
}

// `result` makes the format of the results; null: they have the format of x. `notes`: of an empty
// segment.
static OperatorDef of_segments(const std::string& reduction, const std::string& formula,
                               const Formats& formats, Dtype (*result)(Dtype),
                               const std::string& notes) {
  return {
      .name = "segmented_" + reduction,
      .formula = formula + " of x[offsets[s]], …, x[offsets[s + 1] - 1]",
      .dimensions = {{"segments", "runs of x, each of which becomes one number"},
                     {"mean", "elements of a segment on average, in generated offsets"},
                     {"n", "elements of x; from segments * mean on", segments_times_mean}},
      .tensors = {{.name = "x", .shape = "n", .formats = formats, .layout = Layout::contiguous},
                  {.name = "offsets",
                   .shape = "segments+1",
                   .formats = {Dtype::i64, Dtype::i32},
                   .layout = Layout::contiguous,
                   .meaning = "never fall, from at least 0 to at most n; not checked, as they lie "
                              "on the device"},
                  {.name = "out",
                   .role = Role::out,
                   .shape = "segments",
                   .like = "x",
                   .derived = result,
                   .derived_name = "the " + reduction,
                   .layout = Layout::contiguous}},
      .distributions = {"alike", "random", "one_huge", "most_empty"},
      .notes = notes +
               " Segments are all alike, or have random lengths up to twice the mean, or one has "
               "half of all elements, or 15 of 16 are empty. In C++, segmented_reduce of "
               "ridge/reduce.h takes the reduction as an argument."};
}

// In the order of segmented_reduce::Kind.
Operators operators() {
  return {of_segments("sum", "out[s] = sum", kFloatsAndI32, widened, "Of no elements: 0."),
          of_segments("max", "out[s] = greatest", kFloatsAndI32, nullptr,
                      "A NaN is the result. Of no elements: -inf, or the least i32."),
          of_segments("min", "out[s] = least", kFloatsAndI32, nullptr,
                      "A NaN is the result. Of no elements: inf, or the greatest i32."),
          of_segments("mean", "out[s] = mean", kFloats, nullptr, "Of no elements: NaN.")};
}

}  // namespace ridge::segmented_reduce
