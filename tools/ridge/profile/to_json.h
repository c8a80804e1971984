// The profile as a record: kernels → lines → instructions, each with its counters.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/gpu_spec.h"
#include "profile/model.h"

namespace ridge::tools::profile {

nlohmann::json to_json(const Profile& profile, const GpuSpec& gpu);

}  // namespace ridge::tools::profile
