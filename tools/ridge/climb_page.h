// Climbs as one page that needs nothing else (climb_page.html, .css and .js): the ladders as bars
// against their roofs, rooflines, and all numbers in tables.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "climb_merge.h"

namespace ridge::tools {

// What the page shows, without samples.
nlohmann::json page_record(const std::vector<MergedClimb>& climbs);
std::string to_page(const std::vector<MergedClimb>& climbs);

}  // namespace ridge::tools
