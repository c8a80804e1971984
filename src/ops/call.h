// From a hand-shaped function of the public API to the operator it stands for.
#pragma once

#include <initializer_list>

#include "ladder/ladder.h"
#include "ladder/registry.h"

namespace ridge::ops {

// Tensors and parameters in the order of the description; null is a tensor that is left out. `name`
// stands in front of what is said, where it is not the operator's.
inline Status call(std::string_view op, std::initializer_list<const Tensor*> tensors,
                   std::initializer_list<Value> parameters, const Workspace& workspace,
                   cudaStream_t stream, const char* name = nullptr) {
  const OperatorDef* const def = find_operator(op);
  if (!def) fail_at_start(std::string(op), "no such operator");
  Call made(*def, {tensors.begin(), tensors.size()}, {parameters.begin(), parameters.size()});
  return run(made, workspace, stream, name);
}

}  // namespace ridge::ops
