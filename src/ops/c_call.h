// From a C function to the operator it stands for.
#pragma once

#include <initializer_list>

#include "operator/call.h"
#include "ridge/c.h"

namespace ridge::ops {

// Tensors and parameters in the order of the description, all of them. Keeps what a failure has to
// say for ridge_error, and returns its code.
int c_call(const char* op, std::initializer_list<const RidgeTensor*> tensors,
           std::initializer_list<Value> parameters, const RidgeWorkspace* workspace,
           void* stream) noexcept;

}  // namespace ridge::ops
