// What a launch has to know of the device it goes to.
#pragma once

#include <cstdint>

namespace ridge {

struct DeviceInfo {
  int major = 0, minor = 0;
  int sm_count = 0;
  int threads_per_sm = 0;
  int shared_per_block_optin = 0;  // bytes
  int64_t l2_bytes = 0;
  double pin_bandwidth = 0;  // bytes per second
};

}  // namespace ridge
