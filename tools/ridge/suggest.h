// The nearest known name to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridge::tools {

int edit_distance(std::string_view a, std::string_view b);  // inserts, deletes, replaces, swaps

// The end of a sentence: ". Did you mean 'x'?", or "." where no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace ridge::tools
