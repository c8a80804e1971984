// A rung of a ladder as the command line names it: transpose/03_padded.
#pragma once

#include <string>

#include "core/status.h"
#include "ladders.h"
#include "target.h"

namespace ridge::tools {

// A word, a slash, a word; and no such path.
bool names_rung(const std::string& word);

struct FoundRung {
  std::string family;
  OperatorEntry op;
  std::string rung;  // its own name, which may have been given with its number
};
// Found, and its family built.
Expected<FoundRung> find_rung(const Target& target, const std::string& word, bool quiet);

}  // namespace ridge::tools
