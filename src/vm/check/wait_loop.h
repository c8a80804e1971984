// Loops that do nothing but wait for an mbarrier.
#pragma once

#include <vector>

#include "vm/check/listing.h"

namespace ridge::vm::check {

// The instructions of the smallest loop around `wait`, if they only ask for the phase again: none
// of them looks at other memory, so that only the mbarrier can end the loop. Empty where they do
// more, or there is no loop.
std::vector<bool> wait_loop(const Listing& listing, uint32_t wait);

}  // namespace ridge::vm::check
