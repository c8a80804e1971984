// Predicted times. Convolutions were not timed on a GPU yet: these are the rates of the machine
// with the share of them that the model of time gives (docs/model.md).
#pragma once

#include "kernels/conv/conv.h"
#include "select/select.h"

namespace ridge::conv {

constexpr double kLaunchUs = 4;
constexpr double kBandwidthShare = 0.8;
// One SM of any GPU since Volta issues 128 instructions of lanes per clock; at 1.7 GHz.
constexpr double kLaneInstructionsPerUs = 128 * 1700;
constexpr double kIssueShare = 0.7;

inline double instructions_us(double lane_instructions, double bytes, const DeviceInfo& device) {
  const double issue = lane_instructions / (kLaneInstructionsPerUs * kIssueShare * device.sm_count);
  const double memory = bytes / (kBandwidthShare * device.pin_bandwidth) * 1e6;
  return kLaunchUs + std::max(issue, memory);
}

}  // namespace ridge::conv
