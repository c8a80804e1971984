#include "operator/description.h"

namespace ridge {
namespace {

template <class Def>
int index_of(const std::vector<Def>& all, std::string_view wanted) {
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].name == wanted) return int(i);
  return -1;
}

}  // namespace

int OperatorDef::tensor_index(std::string_view wanted) const { return index_of(tensors, wanted); }
int OperatorDef::parameter_index(std::string_view wanted) const {
  return index_of(parameters, wanted);
}
int OperatorDef::dimension_index(std::string_view wanted) const {
  return index_of(dimensions, wanted);
}
const TensorDef* OperatorDef::tensor(std::string_view wanted) const {
  const int i = tensor_index(wanted);
  return i < 0 ? nullptr : &tensors[size_t(i)];
}

const Formats& main_formats(const OperatorDef& op) {
  const Formats* first = nullptr;
  for (const TensorDef& tensor : op.tensors) {
    const bool is_quantised =
        !tensor.formats.empty() && format_of(tensor.formats.front()).is_quantised;
    if (tensor.formats.size() > 1 && !is_quantised) return tensor.formats;
    if (!first && !tensor.formats.empty()) first = &tensor.formats;
  }
  return *first;
}

std::string names_of(const Formats& formats) {
  std::string names;
  for (const Dtype d : formats) names += (names.empty() ? "" : ", ") + std::string(name_of(d));
  return names;
}

}  // namespace ridge
