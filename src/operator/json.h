// A description as JSON: what `ridge list` tells other programs, and ridge_operator_json returns.
#pragma once

#include <string>

#include "operator/description.h"

namespace ridge {

std::string json_of(const OperatorDef& op);

}  // namespace ridge
