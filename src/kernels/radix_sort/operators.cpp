#include "operator/description.h"

namespace ridge::radix_sort {

// radix_sort.h knows the order.
Operators operators() {
  const auto tensor = [](const std::string& name, Role role, const std::string& like,
                         const Formats& formats) {
    return TensorDef{.name = name,
                     .role = role,
                     .shape = "n",
                     .formats = formats,
                     .like = like,
                     .layout = Layout::contiguous};
  };
  const TensorDef keys = tensor("keys", Role::in, "", {Dtype::u32, Dtype::i32, Dtype::f32});
  const TensorDef sorted_keys = tensor("sorted_keys", Role::out, "keys", {});
  const TensorDef values = tensor("values", Role::in, "", {Dtype::u32, Dtype::i32, Dtype::f32});
  const TensorDef sorted_values = tensor("sorted_values", Role::out, "values", {});
  const std::vector<ParameterDef> parameters = {
      {.name = "descending", .type = ParameterType::flag, .meaning = "the largest key first"}};
  const std::string notes =
      "Equal keys keep their order, also if the largest come first. NaN counts as larger than "
      "every "
      "number, as in PyTorch; -0 and 0 are equal, and so are all NaN. Less than 2^30 keys. "
      "Distributions of the keys for tests and climbs.";
  const std::vector<std::string> distributions = {"random", "few_values", "equal", "rising",
                                                  "falling"};
  return {{.name = "sort_keys",
           .formula = "sorted_keys = the keys in rising order",
           .dimensions = {{"n", "keys"}},
           .tensors = {keys, sorted_keys},
           .parameters = parameters,
           .distributions = distributions,
           .notes = notes},
          {.name = "sort_pairs",
           .formula = "sorted_keys = the keys in rising order, sorted_values = their values",
           .dimensions = {{"n", "pairs"}},
           .tensors = {keys, values, sorted_keys, sorted_values},
           .parameters = parameters,
           .distributions = distributions,
           .notes = notes}};
}

}  // namespace ridge::radix_sort
