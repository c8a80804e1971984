// JSON records, as --json writes them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/status.h"

namespace ridge::tools {

Status write_record(const nlohmann::json& record, const std::string& file);  // "-" is stdout

}  // namespace ridge::tools
