// Launches that need not be modelled again, because others like them were.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "model/launch.h"

namespace ridge::vm {
struct GridRun;
}

namespace ridge::vm::timing {

// What a launch was given besides pointers, which do not change how long it takes: sizes, counts.
std::string scalars_of(const GridRun& grid);

class KnownLaunches {
 public:
  // The time of a launch with this kernel and shape, unless it has to be modelled. Three launches
  // with the same scalars are; and no more than some dozens with one shape, because a program may
  // number its launches.
  std::optional<model::Prediction> find(const std::string& shape, const std::string& scalars) const;
  void add(const std::string& shape, const std::string& scalars, const model::Prediction& time);

 private:
  struct Known {
    uint64_t launches = 0;  // that were modelled
    model::Prediction time;
  };
  std::unordered_map<std::string, Known> of_shape_, alike_;  // alike: by shape and scalars
};

}  // namespace ridge::vm::timing
