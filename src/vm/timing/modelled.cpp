#include "vm/timing/modelled.h"

#include <memory>
#include <utility>

#include "model/elapsed.h"

namespace ridge::vm::timing {
namespace {

struct Modelling {
  explicit Modelling(const GpuSpec& gpu)
      : figures(model::figures_of(gpu)),
        recorder([this](const LaunchTime& launch) { launches.push_back(launch); },
                 {.sampled = true}, gpu, false) {}
  const model::Figures figures;
  std::vector<LaunchTime> launches;
  Timekeeper recorder;
};
std::unique_ptr<Modelling>& modelling() {
  static std::unique_ptr<Modelling> one;
  return one;
}

}  // namespace

void begin_modelling(const GpuSpec& gpu) {
  modelling() = std::make_unique<Modelling>(gpu);
  add_observer(&modelling()->recorder);
}

Modelled end_modelling(double flushed) {
  if (!modelling()) return {};
  Timekeeper& recorder = modelling()->recorder;
  remove_observer(&recorder);
  Modelled all = {.launches = std::move(modelling()->launches)};
  const model::Figures& figures = modelling()->figures;
  const auto works = [&](Timekeeper::Which which) {
    std::vector<model::Task> list = recorder.works(which);
    while (!list.empty() && list.back().kind == model::Task::Kind::synchronise)
      list.pop_back();  // behind the last event
    return list;
  };
  const auto us = [&](Timekeeper::Which which) {
    const std::vector<model::Task> list = works(which);
    return model::between_events_us(list, figures, flushed, list.empty() ? 0 : list[0].stream);
  };
  all.us = us(Timekeeper::Which::expected);
  all.low_us = us(Timekeeper::Which::low);
  all.high_us = us(Timekeeper::Which::high);
  const std::vector<model::Task> list = works(Timekeeper::Which::clean);
  all.graph_us =
      model::can_capture(list) ? model::per_graph_launch_us(list, figures, flushed) : all.us;
  modelling().reset();
  return all;
}

}  // namespace ridge::vm::timing
