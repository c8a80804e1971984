// Several records of climbs as one: the steps of the same case stand together, so that a modelled
// and a measured time of a rung can be shown beside each other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "climb_record.h"

namespace ridge::tools {

// Where times come from.
struct Source {
  std::string device;  // "NVIDIA H200"
  std::string date;    // may be empty
  bool hot = false;    // the L2 was warm
  ladders::RoofsAnswer roofs;
  bool operator==(const Source& other) const {
    return device == other.device && date == other.date && hot == other.hot;
  }
};
struct MergedClimb {
  Climb climb;
  Source measured, modelled;  // without a device: the climb has no times of that kind
  bool is_counted() const { return measured.device.empty() && modelled.device.empty(); }
};

// A climb with where its times come from.
MergedClimb merged_of(const Climb& climb, const ClimbRecord& record);
// In the order in which cases first appear. Two measured (or two modelled) times of one rung are
// an error: `ridge compare` is for them.
Expected<std::vector<MergedClimb>> merge(const std::vector<ClimbRecord>& records);
// The climbs of several files that are wanted, at least one.
Expected<std::vector<MergedClimb>> read_and_merge(const std::vector<std::string>& files,
                                                  const std::function<bool(const Climb&)>& wanted);

}  // namespace ridge::tools
