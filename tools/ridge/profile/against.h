// Two profiles beside each other: what became of each kernel and of each source line.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/status.h"

namespace ridge::tools::profile {

// A record that `ridge profile --json` wrote.
Expected<nlohmann::json> read_record(const std::string& file);

// Kernels are matched by name and shape, lines by their text: a file may have been edited between
// the two.
//
//   {"kernels": [{"name", "name_before", "time_cycles": [before, after], "counters": {name: [b,
//   a]},
//                 "lines": [{"file", "line", "line_before", "text", "text_before", "cost": [b, a],
//                            "counters": {…}}]}],
//    "only_before": [names], "only_after": [names]}
//
// A line or a kernel that one side lacks has none of the fields of that side.
nlohmann::json compare(const nlohmann::json& before, const nlohmann::json& after);

// The same for a terminal, with `top` lines of each kernel.
std::string to_text(const nlohmann::json& comparison, const std::string& file, size_t top);

}  // namespace ridge::tools::profile
