// What operators and rungs were called in records of earlier versions.
#pragma once

#include "climb_record.h"

namespace ridge::tools {

// Puts today's names in place of those that a climb was recorded with.
void rename_old(Climb& climb);

}  // namespace ridge::tools
