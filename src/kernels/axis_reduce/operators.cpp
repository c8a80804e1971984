#include "operator/description.h"

namespace ridge::axis_reduce {

static Dtype i64_of_any(Dtype) { return Dtype::i64; }

// One number for each place beside the axis. `notes`: of an axis without elements.
static OperatorDef along_axis(const std::string& reduction, const std::string& formula,
                              const std::string& notes) {
  const bool gives_places = reduction == "argmax";
  return {.name = reduction + "_axis",
          .formula = formula,
          .dimensions = {{"outer", "dimensions before the axis"},
                         {"length", "elements along the axis"},
                         {"inner", "dimensions behind the axis"}},
          .tensors = {{.name = "x",
                       .shape = "outer..., length, inner...",
                       .formats = kFloats,
                       .meaning = "the dimensions before the axis merge to one stride, those "
                                  "behind it are contiguous"},
                      {.name = "out",
                       .role = Role::out,
                       .shape = "outer..., inner...",
                       .like = "x",
                       .derived = gives_places ? i64_of_any : nullptr,
                       .derived_name = "the " + reduction,
                       .meaning = "lies as x does; it may keep the axis, with one element"}},
          .parameters = {{.name = "axis",
                          .type = ParameterType::integer,
                          .otherwise = 1,
                          .meaning = "the dimension of x that is reduced; negative: from the end"}},
          .notes =
              notes + " In C++, reduce_axis of ridge/reduce.h takes the reduction as an argument."};
}

// In the order of axis_reduce::Kind.
Operators operators() {
  return {along_axis("sum", "out = sum of x along an axis", "Of no elements: 0."),
          along_axis("max", "out = greatest element of x along an axis",
                     "A NaN is the result. Of no elements: -inf."),
          along_axis("min", "out = least element of x along an axis",
                     "A NaN is the result. Of no elements: inf."),
          along_axis("mean", "out = mean of x along an axis", "Of no elements: NaN."),
          along_axis("product", "out = product of x along an axis", "Of no elements: 1."),
          along_axis("argmax", "out = index of the first maximum of x along an axis",
                     "Counted along the axis; a NaN counts as the maximum. Of no elements: -1."),
          along_axis("norm_l1", "out = sum of |x| along an axis", "Of no elements: 0."),
          along_axis("norm_l2", "out = sqrt(sum of x * x) along an axis", "Of no elements: 0.")};
}

}  // namespace ridge::axis_reduce
