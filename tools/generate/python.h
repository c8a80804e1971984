// The operators for Python: the functions of the package `ridge` (bindings/python), with type hints
// and docstrings, and the descriptions that the package reads.
#pragma once

#include <string>

namespace ridge::generate {

std::string python_source();
std::string descriptions();  // JSON: a list in the order of ridge_operator_name

}  // namespace ridge::generate
