#include "model/launch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ridge::model {
namespace {

constexpr double kBusy = 0.6;  // a part of the GPU that is used less does not hold a kernel up
// How far off the model may be: where it was compared (docs/model.md), more where blocks were not
// replayed to the end.
constexpr double kBand = 0.18, kBandShort = 0.25;
constexpr double kShortUs = 20;

std::string bound_of(const SmTime& sm, const Work& work, const Figures& figures, double us) {
  if (double(work.blocks) < figures.sms) return "idle";
  const auto pipe = [&](Pipe p) { return sm.pipes[size_t(p)]; };
  const std::pair<double, const char*> parts[] = {
      {sm.dram, "memory"},      {sm.l2, "l2"},
      {sm.lsu, "l1_shared"},    {sm.issue, "issue"},
      {pipe(Pipe::fma), "fma"}, {pipe(Pipe::fma_heavy), "fma"},
      {pipe(Pipe::alu), "alu"}, {pipe(Pipe::fp64), "fp64"},
      {pipe(Pipe::sfu), "sfu"}, {pipe(Pipe::tensor), "tensor"},
      {sm.atomics, "atomics"},
  };
  const auto& most = *std::ranges::max_element(parts, {}, &std::pair<double, const char*>::first);
  if (most.first >= kBusy) return most.second;
  return us < 1.5 * figures.launch_us ? "launch" : "latency";
}

}  // namespace

Prediction predict(const Work& work, const Figures& figures, int resident) {
  const double active = std::min(double(figures.sms), double(work.blocks));
  const double most = std::ceil(double(work.blocks) / figures.sms);
  Prediction out;
  out.sm = run_sm(work, figures, most, resident, active);
  out.us = figures.launch_us + out.sm.cycles / figures.clock_ghz * 1e-3;
  const double band = out.us < kShortUs ? kBandShort : kBand;
  out.low_us = out.us * (1 - band);
  out.high_us = out.us * (1 + band);
  out.bound = bound_of(out.sm, work, figures, out.us);
  return out;
}

}  // namespace ridge::model
