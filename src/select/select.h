// Which rung serves a call: those that support it, the least predicted time among them. Pure
// functions: the same arguments on the same device always give the same answer.
#pragma once

#include <vector>

#include "ladder/rung.h"

namespace ridge {

// Calls visit(candidate) for each rung; returns the index of the best, or -1. Allocates nothing.
template <class Args, class Visit>
int select(const std::vector<RungOf<Args>>& rungs, const Args& args, const DeviceInfo& device,
           Visit visit) {
  int best = -1;
  double least = 0;
  for (size_t i = 0; i < rungs.size(); ++i) {
    const RungOf<Args>& rung = rungs[i];
    Candidate candidate = {rung.name, rung.supports(args, device)};
    if (candidate.support && rung.cost) candidate.predicted_us = rung.cost(args, device);
    visit(candidate);
    if (!candidate.support) continue;
    const double cost = candidate.predicted_us;
    // A lesson yields to every rung that predicts a time, and to the lessons that come after it.
    if (best >= 0 && least > 0 && (cost == 0 || cost >= least)) continue;
    best = int(i);
    least = cost;
  }
  return best;
}

// Whether a rung's predicted time is so near to that of the chosen one that constants of another
// device may have decided between them.
constexpr double kCloseCall = 1.5;
template <class Candidates>
bool is_close(const Candidate& candidate, const Candidates& all, int chosen) {
  if (chosen < 0 || !candidate.support || candidate.predicted_us <= 0) return false;
  return candidate.predicted_us <= kCloseCall * all[size_t(chosen)].predicted_us;
}

// Time of a kernel that streams memory: what was recorded on one device, carried to another by its
// bandwidth.
struct Tuned {
  double fixed_us;         // launch, ramp and tail
  double bandwidth_share;  // of the pin bandwidth, when the size is large
};
constexpr double streaming_us(Tuned tuned, double bytes, const DeviceInfo& device) {
  return tuned.fixed_us + bytes / (tuned.bandwidth_share * device.pin_bandwidth) * 1e6;
}

}  // namespace ridge
