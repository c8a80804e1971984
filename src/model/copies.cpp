#include "model/copies.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace ridge::model {
namespace {

// Straight lines between what was measured, and the last one goes on.
double on_curve(const std::array<double, 8>& at, const std::array<double, 8>& us, double bytes) {
  if (bytes <= at[0]) return us[0];
  size_t k = 1;
  while (k + 1 < at.size() && bytes > at[k]) ++k;
  return us[k - 1] + (bytes - at[k - 1]) / (at[k] - at[k - 1]) * (us[k] - us[k - 1]);
}

CopyTime pinned(double us, double bytes_per_us, double bytes, const Figures& figures) {
  return {.fixed_us = std::max(0.0, us - figures.event_us),
          .bytes_us = bytes / bytes_per_us,
          .host_us = figures.launch_host_us};
}

}  // namespace

CopyTime copy_time(Way way, double bytes, bool pageable, const Figures& f) {
  switch (way) {
    case Way::within_device: return pinned(f.within_device_us, f.within_device_bytes, bytes, f);
    case Way::fill: return pinned(f.fill_us, f.fill_bytes, bytes, f);
    default: break;
  }
  const bool in = way == Way::to_device;
  CopyTime time = in ? pinned(f.to_device_us, f.to_device_bytes, bytes, f)
                     : pinned(f.to_host_us, f.to_host_bytes, bytes, f);
  if (!pageable) {
    // Between two events such a copy takes as long whether or not the host was ahead of the GPU:
    // its call takes no longer than the event's.
    time.host_us = f.event_us;
    return time;
  }
  const double measured =
      on_curve(f.pageable_bytes, in ? f.to_device_pageable_us : f.to_host_pageable_us, bytes);
  if (in && bytes <= f.staged_bytes) {  // the caller's bytes are safe: the call returns
    time.host_us = measured;
    return time;
  }
  // The call, the copy and the host that hears of its end: together what was measured.
  const double copy = std::max(0.1, measured - f.launch_host_us - f.wait_us);
  time.fixed_us = std::min(time.fixed_us, copy);
  time.bytes_us = copy - time.fixed_us;
  time.host_waits = true;
  return time;
}

double both_ways_factor(const Figures& figures) {
  return std::max(1.0, (figures.to_device_bytes + figures.to_host_bytes) / figures.both_ways_bytes);
}

}  // namespace ridge::model
