#include "operator/call.h"

#include <cstdio>
#include <cstdlib>

namespace ridge {
namespace {

size_t found(int index, const OperatorDef& op, std::string_view name) {
  if (index >= 0) return size_t(index);
  std::fprintf(stderr, "ridge: the description of %s has no '%.*s'\n", op.name.c_str(),
               int(name.size()), name.data());
  std::abort();
}

}  // namespace

Call::Call(const OperatorDef& op) : op_(&op) {
  for (size_t p = 0; p < op.parameters.size(); ++p) parameters[p] = op.parameters[p].otherwise;
}

Call::Call(const OperatorDef& op, std::span<const Tensor* const> given,
           std::span<const Value> values)
    : Call(op) {
  for (size_t t = 0; t < given.size(); ++t) tensors[t] = given[t];
  for (size_t p = 0; p < values.size(); ++p) parameters[p] = values[p];
}

const Tensor* Call::find(std::string_view tensor) const {
  return tensors[found(op_->tensor_index(tensor), *op_, tensor)];
}
const Tensor& Call::operator[](std::string_view tensor) const {
  static const Tensor kNone;
  const Tensor* const t = find(tensor);
  return t ? *t : kNone;
}
double Call::number(std::string_view parameter) const {
  return parameters[found(op_->parameter_index(parameter), *op_, parameter)].number;
}
int64_t Call::integer(std::string_view parameter) const {
  return parameters[found(op_->parameter_index(parameter), *op_, parameter)].integer;
}
int64_t Call::size(std::string_view dimension) const {
  return sizes.size[found(op_->dimension_index(dimension), *op_, dimension)];
}
void Call::set(std::string_view tensor, const Tensor* value) {
  tensors[found(op_->tensor_index(tensor), *op_, tensor)] = value;
}
void Call::set(std::string_view parameter, Value value) {
  parameters[found(op_->parameter_index(parameter), *op_, parameter)] = value;
}

}  // namespace ridge
