// Findings as people and programs read them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "findings/findings.h"

namespace ridge::tools {

std::string to_text(const Findings& findings, size_t most);  // ends with a summary
nlohmann::json to_json(const Findings& findings);

}  // namespace ridge::tools
