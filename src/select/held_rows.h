// The predicted time of rungs that hold rows in registers or shared memory (src/device/held_rows.cuh).
#pragma once

#include <algorithm>
#include <cmath>

#include "select/select.h"

namespace ridge::held {

// The time of a grid whose SMs work on `an_sm` rows each at a time. The rows of the last round have
// more bandwidth each, but not without limit: an SM takes at most about three times its share.
inline double rows_us(Tuned tuned, double bytes, int64_t rows, double an_sm,
                      const DeviceInfo& device) {
  constexpr double kLeast = 0.3;  // of a round, for one row on every SM where that is a round
  const double rounds = double(rows) / (an_sm * device.sm_count);
  const double left = rounds - std::floor(rounds), together = std::max(an_sm, 1.0);
  const double least = kLeast * std::ceil(left * together) / together;
  const double longer = left > 0 ? std::max(least - left, 0.0) / rounds : 0;
  return streaming_us(tuned, bytes * (1 + longer), device);
}

}  // namespace ridge::held
