// The device that the calling thread has current, as selection and launches see it.
#pragma once

#include "core/device_info.h"
#include "core/status.h"

namespace ridge {

// Asked once for each device; from then on without a call to the runtime but for the device's
// number.
Expected<DeviceInfo> current_device();
bool is_software_gpu();  // whether Ridge's own runtime is the one this process runs on

}  // namespace ridge
