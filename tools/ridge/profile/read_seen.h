// The accesses that the software GPU has kept, as its records have them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profile/model.h"

namespace ridge::tools::profile {

// `scale`: how many accesses stand for each, beyond what the record says.
Seen read_seen(const nlohmann::json& object, const char* key, double scale);
void add(Seen& sum, const Seen& more);

// The bytes of global memory that an instruction touched.
void read_range(const nlohmann::json& object, Instruction& one);

// The instructions of a line go to the same tile: what is known of one is known of all.
void share_tiles(Kernel& kernel, const Line& line);

}  // namespace ridge::tools::profile
