// JSON records, as --json writes them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/status.h"

namespace ridge::tools {

// Called before the run, so that a missing folder is noticed at once and not hours later.
Status check_writable(const std::string& path);  // "-" and nothing are

Status write_text(const std::string& text, const std::string& file);         // "-" is stdout
Status write_record(const nlohmann::json& record, const std::string& file);  // "-" is stdout

}  // namespace ridge::tools
