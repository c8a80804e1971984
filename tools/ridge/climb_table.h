// A climb as people read it: one table per operator and size.
#pragma once

#include "climb_record.h"
#include "target.h"

namespace ridge::tools {

void print_climb(const Climb& climb, const Target& target, const ladders::RoofsAnswer& roofs);

}  // namespace ridge::tools
