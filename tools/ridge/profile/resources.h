// Registers, spills and shared memory as ptxas reports them, and the occupancy that follows.
#pragma once

#include <string_view>

#include "core/gpu_spec.h"
#include "profile/model.h"

namespace ridge::tools::profile {

// Asks the toolkit's ptxas about every kernel whose PTX is known; where it has no answer the
// software GPU's estimate stays.
void ask_ptxas(Profile& profile, const GpuSpec& gpu);

// What `ptxas -v` says of a kernel; false where it says nothing.
bool read_ptxas(std::string_view output, const std::string& kernel, Resources& resources);

void find_occupancy(Profile& profile, const GpuSpec& gpu);

}  // namespace ridge::tools::profile
