// Loops that do nothing but wait for an mbarrier.
#pragma once

#include <vector>

#include "vm/check/listing.h"

namespace ridge::vm::check {

struct WaitLoop {
  // By instruction: those of the smallest loop around the wait, if they only ask for the phase
  // again and look at no other memory. Empty where they do more, or there is no loop.
  std::vector<bool> members;
  // Each turn is like the one before: it does not count, and does not look at a clock. So only the
  // mbarrier can end it.
  bool endless = false;
};
WaitLoop wait_loop(const Listing& listing, uint32_t wait);

}  // namespace ridge::vm::check
