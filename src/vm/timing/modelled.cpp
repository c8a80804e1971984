#include "vm/timing/modelled.h"

#include <algorithm>
#include <array>
#include <cstdio>
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

// What takes longest: the kernels, or what goes one way over the link.
void find_bound(Modelled& all, const std::vector<model::Task>& works,
                const model::Figures& figures) {
  using Kind = model::Task::Kind;
  double kernels = 0;
  std::array<double, 2> link = {}, bytes = {};  // to the device, to the host
  const auto add = [&](const model::Task& task) {
    if (task.kind == Kind::kernel) kernels += task.us;
    if (task.kind != Kind::copy || task.way > model::Way::to_host) return;
    const auto time = model::copy_time(task.way, task.bytes, task.is_pageable, figures);
    link[size_t(task.way)] += time.fixed_us + time.bytes_us;
    bytes[size_t(task.way)] += task.bytes;
  };
  for (const model::Task& task : works) {
    add(task);
    for (const model::Task& node : task.nodes) add(node);
  }
  const size_t way = link[1] > link[0];
  if (link[way] > kernels) {
    std::array<char, 80> text;
    std::snprintf(text.data(), text.size(), "%.1f MB go to the %s at %.1f GB/s", bytes[way] / 1e6,
                  way ? "host" : "device", bytes[way] / link[way] / 1e3);
    all.bound = "link";
    all.why = text.data();
    return;
  }
  const auto longest = std::ranges::max_element(
      all.launches, {}, [](const LaunchTime& launch) { return launch.time.us; });
  if (longest == all.launches.end()) return;
  all.bound = longest->time.bound;
  all.why = longest->time.why;
  for (const std::string& note : longest->time.notes) all.why += "; " + note;
}

}  // namespace

void begin_modelling(const GpuSpec& gpu, bool alone) {
  modelling() = std::make_unique<Modelling>(gpu);
  if (alone) set_only_observer(&modelling()->recorder);
  else add_observer(&modelling()->recorder);
}

Modelled end_modelling(double flushed) {
  if (!modelling()) return {};
  Timekeeper& recorder = modelling()->recorder;
  set_only_observer(nullptr);
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
  find_bound(all, list, figures);
  modelling().reset();
  return all;
}

}  // namespace ridge::vm::timing
