// What a launch has to know of the device it goes to.
#pragma once

#include <cstdint>

namespace ridge {

class Tuning;  // select/tuning.h

struct DeviceInfo {
  int major = 0, minor = 0;
  int sm_count = 0;
  int threads_per_sm = 0;
  int shared_per_block_optin = 0;  // bytes
  int64_t l2_bytes = 0;
  double pin_bandwidth = 0;  // bytes per second
  // What `ridge tune` recorded on this device; nullptr: the constants of the sources. It outlives
  // every copy of this struct.
  const Tuning* tuning = nullptr;
};

}  // namespace ridge
