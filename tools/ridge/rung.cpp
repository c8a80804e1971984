#include "rung.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ladders.h"
#include "suggest.h"
#include "verb.h"

namespace ridge::tools {

namespace fs = std::filesystem;

bool names_rung(const std::string& file) {
  std::error_code error;
  const size_t slash = file.find('/');
  return slash != std::string::npos && slash > 0 && file.find('/', slash + 1) == file.npos &&
         file.find('.') == file.npos && !fs::exists(file, error) &&
         !fs::is_directory(file.substr(0, slash), error);
}

Expected<std::pair<std::string, std::string>> find_rung(const Target& target,
                                                        const std::string& word) {
  const auto ladders = list_ladders(target);
  if (!ladders) return ladders.error();
  const std::string name = word.substr(0, word.find('/')), wanted = word.substr(name.size() + 1);
  if (const Status known = check_operators(*ladders, {name}); !known) return known.error();
  for (const LadderEntry& ladder : *ladders) {
    if (ladder.family != name && !std::ranges::count(ladder.operators, name)) continue;
    std::vector<std::string> names;
    for (size_t i = 0; i < ladder.rungs.size(); ++i) {
      const std::string& rung = ladder.rungs[i].first;
      names.push_back(rung);
      const size_t digits = wanted.find_first_not_of("0123456789");
      if (wanted == rung || (digits != wanted.npos && digits > 0 && wanted[digits] == '_' &&
                             wanted.substr(digits + 1) == rung))
        return std::pair(name, rung);
    }
    return Error{kUsage, fmt::format("{} has no rung '{}'{}\n  it has: {}", name, wanted,
                                     did_you_mean(wanted, names), fmt::join(names, " "))};
  }
  return Error{kUsage, fmt::format("there is no operator '{}'", name)};
}

}  // namespace ridge::tools
