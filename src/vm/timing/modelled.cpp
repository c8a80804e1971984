#include "vm/timing/modelled.h"

#include <memory>
#include <utility>

namespace ridge::vm::timing {
namespace {

struct Modelling {
  std::vector<LaunchTime> launches;
  Recorder recorder{[this](const LaunchTime& launch) { launches.push_back(launch); },
                    {.sampled = true}};
};
std::unique_ptr<Modelling>& modelling() {
  static std::unique_ptr<Modelling> one;
  return one;
}

}  // namespace

void begin_modelling() {
  modelling() = std::make_unique<Modelling>();
  add_observer(&modelling()->recorder);
}

std::vector<LaunchTime> end_modelling() {
  if (!modelling()) return {};
  remove_observer(&modelling()->recorder);
  std::vector<LaunchTime> launches = std::move(modelling()->launches);
  modelling().reset();
  return launches;
}

}  // namespace ridge::vm::timing
