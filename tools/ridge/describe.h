// What every verb says about itself: the source of the man page and of shell completion.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/status.h"

namespace ridge::tools {

// One object per verb, in the order of `ridge help`: what `ridge VERB --describe-flags` prints,
// and the verb's one line of help as "brief".
Expected<std::vector<nlohmann::json>> describe_verbs();

}  // namespace ridge::tools
