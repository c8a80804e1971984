// The families as the build lists them, from families.def, each ladder.def and each operators.cpp.
#pragma once

#include <string>
#include <vector>

#include "ladder/registry.h"
#include "operator/description.h"

namespace ridge {

struct ListedFamily {
  const char* name;
  std::vector<ListedRung> rungs;
  std::vector<std::string> rivals;
  Operators (*operators)();
};
std::vector<ListedFamily> listed_families();

}  // namespace ridge
