// Text for people and compilers: wrapped at 100 columns, as the rest of the tree.
#pragma once

#include <string>
#include <vector>

#include "operator/description.h"

namespace ridge::generate {

// What a function's reader needs to know of its operator: formula, tensors, parameters, notes.
std::string comment_of(const OperatorDef& op);

// `head`, which ends in "(", then the arguments, then `tail`; broken behind commas.
std::string signature(const std::string& head, const std::vector<std::string>& arguments,
                      const std::string& tail);

// A number as C and C++ write it.
std::string literal(double x);

// Words behind `first`, on as many lines as they take; further lines start with `further`.
std::string wrapped(const std::string& first, const std::string& further, const std::string& text);

// What a reader needs to know of one argument.
std::string about(const TensorDef& tensor);
std::string about(const ParameterDef& parameter);

}  // namespace ridge::generate
