// docs/ptx.md, written from the tables.
#pragma once

#include <string>

namespace ridge::golden {
std::string documentation();
}
