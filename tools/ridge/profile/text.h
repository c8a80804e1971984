// The profile on a terminal: the sentence that matters, then each kernel and its costliest lines.
#pragma once

#include <string>

#include "core/gpu_spec.h"
#include "profile/model.h"

namespace ridge::tools::profile {

std::string to_text(const Profile& profile, const GpuSpec& gpu, size_t top_lines);

}  // namespace ridge::tools::profile
