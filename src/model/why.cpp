#include "model/why.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ridge::model {
namespace {

template <class... A>
std::string text(const char* format, A... values) {
  char line[160];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

double percent(double part) { return std::min(100.0, 100 * part); }

// Bytes that are on their way to one SM: its rate, times how long each takes (Little's law).
struct InFlight {
  double bytes, needed;  // needed: to keep DRAM busy
};
InFlight in_flight(const SmTime& sm, const Work& work, const Figures& f) {
  const double active = std::clamp(double(work.blocks), 1.0, double(f.sms));
  const double per_cycle = 1 / (active * f.clock_ghz);  // of one SM, from bytes per ns of all
  const double dram = sm.dram_of_peak * f.dram_peak_bytes_per_ns * per_cycle;
  const double l2 = sm.l2_of_peak * f.l2_peak_bytes_per_ns * per_cycle;
  return {dram * f.dram_latency + std::max(0.0, l2 - dram) * f.l2_latency,
          f.dram_bytes_per_cycle * (f.dram_latency + f.dram_queueing)};
}

std::string of_latency(const SmTime& sm, const Work& work, const Figures& f) {
  constexpr double kMemoryMatters = 0.15, kAtomicsMatter = 0.6;
  if (sm.atomics >= kAtomicsMatter)
    return text("atomics on the same words take turns for %.0f %% of the time",
                percent(sm.atomics));
  if (std::max(sm.l2_of_peak, sm.dram_of_peak) >= kMemoryMatters) {
    const InFlight now = in_flight(sm, work, f);
    if (now.bytes < now.needed)
      return text("%.0f KB in flight per SM, %.0f KB needed", std::ceil(now.bytes / 1024),
                  std::ceil(now.needed / 1024));
  }
  if (sm.issue <= 0) return "";
  return text("each scheduler issues one instruction in %.0f cycles: they wait for each other",
              std::max(2.0, 1 / sm.issue));
}

}  // namespace

std::string why(const std::string& bound, const SmTime& sm, const Work& work, const Figures& f) {
  const auto pipe = [&](Pipe one) { return percent(sm.pipes[size_t(one)]); };
  if (bound == "memory") return text("DRAM moves %.0f %% of its peak", percent(sm.dram_of_peak));
  if (bound == "l2")
    return text("the L2 moves %.0f %% of its peak, DRAM %.0f %%", percent(sm.l2_of_peak),
                percent(sm.dram_of_peak));
  if (bound == "l1_shared")
    return text("shared memory and L1 are busy for %.0f %% of the time", percent(sm.lsu));
  if (bound == "issue")
    return text("schedulers issue in %.0f %% of all cycles",
                std::max(percent(sm.issue), pipe(Pipe::alu)));
  if (bound == "fma")
    return text("the FMA pipe is busy for %.0f %% of the time",
                std::max(pipe(Pipe::fma), pipe(Pipe::fma_heavy)));
  if (bound == "fp64")
    return text("the FP64 pipe is busy for %.0f %% of the time", pipe(Pipe::fp64));
  if (bound == "sfu")
    return text("special functions are busy for %.0f %% of the time", pipe(Pipe::sfu));
  if (bound == "tensor")
    return text("tensor cores are busy for %.0f %% of the time", pipe(Pipe::tensor));
  if (bound == "idle") return text("%.0f blocks for %d SMs", double(work.blocks), f.sms);
  if (bound == "launch") return text("an empty launch takes %.1f µs", f.launch_us);
  if (bound == "latency") return of_latency(sm, work, f);
  return "";
}

}  // namespace ridge::model
