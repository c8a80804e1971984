// A rung of a ladder as the command line names it: transpose/03_padded.
#pragma once

#include <string>
#include <utility>

#include "core/status.h"
#include "target.h"

namespace ridge::tools {

// A word, a slash, a word; and no such path.
bool names_rung(const std::string& word);

// The operator, and the rung's own name, which may be given with its number.
Expected<std::pair<std::string, std::string>> find_rung(const Target& target,
                                                        const std::string& word);

}  // namespace ridge::tools
