// How long copies and fills take that no kernel of the program makes.
#pragma once

#include <cstdint>

#include "model/figures.h"

namespace ridge::model {

enum class Way : uint8_t { to_device, to_host, within_device, fill };

// A copy alone on its engine, in its stream: without the events around it.
struct CopyTime {
  double fixed_us = 0;  // before the first byte
  double bytes_us = 0;  // as long as nothing goes the other way
  double host_us = 0;   // that the call takes
  bool host_waits = false;
};
// `pageable`: the host's side is memory that is not pinned. The driver then copies it through
// pinned memory of its own, while the host waits.
CopyTime copy_time(Way way, double bytes, bool pageable, const Figures& figures);

// How much longer the bytes take while others go the other way over the link.
double both_ways_factor(const Figures& figures);

}  // namespace ridge::model
