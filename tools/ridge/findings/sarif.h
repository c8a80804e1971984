// Findings in the form that code hosts and editors read: SARIF 2.1.0.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "findings/findings.h"

namespace ridge::tools {

nlohmann::json to_sarif(const Findings& findings);

}  // namespace ridge::tools
