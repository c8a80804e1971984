// One operator as a page: formula, tensors, parameters, rungs.
#pragma once

#include "ladders.h"

namespace ridge::tools {

void print_operator(const FamilyEntry& family, const OperatorEntry& op);

}  // namespace ridge::tools
