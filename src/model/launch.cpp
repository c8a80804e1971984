#include "model/launch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "model/why.h"

namespace ridge::model {
namespace {

constexpr double kBusy = 0.6;  // a part of the GPU that is used less does not hold a kernel up
// How far off the model may be, by what bounds the kernel: so wide that 87 of 100 rungs of the
// fitted families are inside (docs/model.md). Few blocks wait for latencies that nothing hides.
constexpr double kBandMemory = 0.19, kBandL1 = 0.17, kBandIssue = 0.19, kBandLatency = 0.3,
                 kBandIdle = 0.6;
constexpr double kShorter = 1.5;      // times as wide below kShortUs
constexpr double kBandUnchecked = 2;  // times as wide on a card that nobody compared
constexpr double kShortUs = 20;
constexpr double kShortBlocks = 16;  // waves: what was in the L2 before matters

// The highest of the throughputs that Nsight Compute has. Atomics that wait for each other keep
// none of them busy: that is latency, and `why` says so.
std::string bound_of(const SmTime& sm, const Work& work, const Figures& figures, double us) {
  if (double(work.blocks) < figures.sms) return "idle";
  const auto pipe = [&](Pipe p) { return sm.pipes[size_t(p)]; };
  const std::pair<double, const char*> parts[] = {
      {sm.dram_of_peak, "memory"}, {sm.l2_of_peak, "l2"},
      {sm.lsu, "l1_shared"},       {sm.issue, "issue"},
      {pipe(Pipe::fma), "fma"},    {pipe(Pipe::fma_heavy), "fma"},
      {pipe(Pipe::alu), "issue"},  {pipe(Pipe::fp64), "fp64"},
      {pipe(Pipe::sfu), "sfu"},    {pipe(Pipe::tensor), "tensor"},
  };
  const auto& most = *std::ranges::max_element(parts, {}, &std::pair<double, const char*>::first);
  if (most.first >= kBusy) return most.second;
  return us < 1.25 * figures.launch_us ? "launch" : "latency";
}

// Room for blocks that it takes, or, if that is more, the part of the GPU that it uses most.
double share_of(const SmTime& sm, const Work& work, const Figures& figures, int resident) {
  const double room = double(figures.sms) * std::max(1, resident);
  const double used = std::max({sm.issue, sm.lsu, sm.l2_of_peak, sm.dram_of_peak, sm.atomics,
                                *std::ranges::max_element(sm.pipes)});
  const double active = std::min(1.0, double(work.blocks) / figures.sms);
  return std::clamp(std::max(double(work.blocks) / room, used * active), 0.001, 1.0);
}

// Tensor cores draw so much power that the clock falls.
double clock_of(const SmTime& sm, const Figures& figures) {
  const double used = std::min(1.0, sm.pipes[size_t(Pipe::tensor)]);
  return figures.clock_ghz - (figures.clock_ghz - figures.tensor_clock_ghz) * used;
}

// Blocks go to the SM that is free first. The work of the SM that gets the most, as a multiple of
// the mean block of those that were replayed.
double blocks_of_busiest(const Work& work, const Figures& figures, int resident) {
  const double most = std::ceil(double(work.blocks) / figures.sms);
  double replayed = 0;
  for (const Work::Block& block : work.sm) replayed += block.issued / double(work.sm.size());
  if (replayed <= 0 || work.issued.empty()) return most;
  struct Slot {
    double free;
    int sm;
    bool operator>(const Slot& other) const {
      return free != other.free ? free > other.free : sm > other.sm;
    }
  };
  std::priority_queue<Slot, std::vector<Slot>, std::greater<>> slots;
  for (int i = 0; i < resident; ++i)
    for (int sm = 0; sm < figures.sms; ++sm) slots.push({i * 1e-9, sm});
  std::vector<double> of_sm(size_t(figures.sms));
  for (const float issued : work.issued) {
    Slot slot = slots.top();
    slots.pop();
    of_sm[size_t(slot.sm)] += double(issued);
    slot.free += double(issued);
    slots.push(slot);
  }
  return *std::ranges::max_element(of_sm) / replayed;
}

double band_of(const std::string& bound, double us) {
  double band = kBandIssue;
  if (bound == "memory" || bound == "l2") band = kBandMemory;
  if (bound == "l1_shared") band = kBandL1;
  if (bound == "latency" || bound == "launch") band = kBandLatency;
  if (bound == "idle") band = kBandIdle;
  return us < kShortUs ? std::min(band * kShorter, kBandIdle) : band;
}

}  // namespace

Prediction predict(const Work& work, const Figures& figures, int resident) {
  const double active = std::min(double(figures.sms), double(work.blocks));
  Prediction out;
  const double blocks = blocks_of_busiest(work, figures, resident);
  const double whole = std::max(1.0, std::round(blocks));
  double followed = 0, cut = 0;  // steps
  for (const Work::Block& block : work.sm) followed += block.followed, cut += block.cut;
  const double more = blocks / whole * (followed > 0 ? 1 + cut / followed : 1);
  const auto own_us = [&] { return out.sm.cycles / clock_of(out.sm, figures) * 1e-3; };
  if (blocks < kShortBlocks * resident) {
    // What such a launch wrote before this one, and what is still in the L2.
    const double written = double(work.written_sectors) * 32 * double(work.blocks) /
                           std::max(1.0, double(work.blocks_run));
    Figures clean = figures;
    clean.l2_dirty_bytes = std::min(figures.l2_dirty_bytes, written);
    out.sm = run_sm(work, clean, whole, resident, active);
    out.sm.cycles *= more;
    out.clean_us = own_us();
  }
  out.sm = run_sm(work, figures, whole, resident, active);
  out.sm.cycles *= more;
  out.launch_us = figures.launch_us;
  out.us = figures.launch_us + own_us();
  if (out.clean_us == 0) out.clean_us = own_us();
  out.notes = work.notes;
  out.bound = bound_of(out.sm, work, figures, out.us);
  const double band = std::min(
      0.9, band_of(out.bound, out.us) * work.band * (figures.checked ? 1 : kBandUnchecked));
  out.low_us = out.us * (1 - band);
  out.high_us = out.us * (1 + band);
  out.checked = figures.checked;
  out.why = why(out.bound, out.sm, work, figures);
  out.share = share_of(out.sm, work, figures, resident);
  return out;
}

}  // namespace ridge::model
