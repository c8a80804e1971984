// JSON records, as --json writes them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/status.h"

namespace ridge::tools {

// Before the run: hours later is too late to learn that a folder is not there.
Status check_writable(const std::string& path);  // "-" and nothing are

Status write_record(const nlohmann::json& record, const std::string& file);  // "-" is stdout

}  // namespace ridge::tools
