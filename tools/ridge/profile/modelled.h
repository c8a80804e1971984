// The model of time in a profile: how long each kernel takes on the GPU, and what holds it up
// (docs/model.md).
#pragma once

#include <istream>
#include <string>

#include "core/gpu_spec.h"
#include "profile/model.h"

namespace ridge::tools::profile {

// Gives each kernel the mean of its launches, from the lines that the software GPU wrote.
void read_modelled_times(Profile& profile, std::istream& wire);

// What the kernel is bound by, for a sentence: "latency: no part of the GPU is busy for more than
// 41 % of the time".
std::string bound_text(const ModelledTime& time);
// "modelled for NVIDIA H200: 62.9 µs (51.6–74.3), bound by l2: …"
std::string modelled_text(const Kernel& kernel, const GpuSpec& gpu);

// What a change saves that takes away `part` of a kernel's time, in µs for each launch.
double saved_us(const Kernel& kernel, double part);

// How much of the time of all kernels is this one's, in any unit: modelled µs if all have them,
// else cycles of the plain model (time.h).
double cost_of(const Profile& profile, const Kernel& kernel, const GpuSpec& gpu);

}  // namespace ridge::tools::profile
