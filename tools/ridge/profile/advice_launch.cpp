// Advice on a kernel as a whole: its lanes, its registers, its blocks.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/geometry.h"
#include "terminal.h"

namespace ridge::tools::profile {
namespace {

constexpr double kLowOccupancy = 0.5;
constexpr double kWorthSplitting = 0.1;  // of the lanes' time lost

Advice of_kernel(Kind kind) { return Advice{.kind = kind}; }

// Instructions issued for lanes that were switched off, in cycles.
double idle_lanes(const Kernel& kernel) {
  double idle = 0;
  for (const Instruction& one : kernel.instructions)
    idle += double(one.counters.warps) - double(one.counters.threads) / 32;
  return idle / 4;
}

void add_divergence(const Kernel& kernel, std::vector<Advice>& out) {
  // A guard around a few instructions, as `if (lane == 0)`, is how it should be.
  const double lost = idle_lanes(kernel);
  if (lost < kWorthSplitting * double(kernel.total.warps) / 4) return;
  uint64_t all = 0;
  for (const Instruction& one : kernel.instructions) all += one.counters.divergent;
  for (const Instruction& one : kernel.instructions) {
    const Counters& c = one.counters;
    if (!c.divergent || double(c.divergent) < 0.05 * double(c.branches)) continue;
    Advice advice = of_kernel(Kind::divergence);
    advice.file = one.file;
    advice.line = one.file.empty() ? one.ptx_line : one.line;
    advice.counter = "divergent";
    advice.now = c.divergent;
    advice.then = 0;
    const std::string share =
        fmt::format("{} of the {} times a warp comes here its lanes go both ways",
                    thousands(c.divergent), thousands(c.branches));
    advice.brief = fmt::format("splits warps: {}", share);
    const std::string sides =
        one.split ? fmt::format(" (lanes {} one way, {} the other)",
                                lanes_text(lanes_of(one.split->taken)),
                                lanes_text(lanes_of(one.split->mask & ~one.split->taken)))
                  : "";
    advice.reason = fmt::format("{}{}; the kernel runs with {:.1f} of 32 lanes", share, sides,
                                kernel.total.active_lanes());
    advice.fix =
        "decide by warp, not by lane (threadIdx.x / 32), or number the work so that neighbouring "
        "lanes decide alike";
    advice.saves = lost * double(c.divergent) / double(all);
    out.push_back(std::move(advice));
  }
}

void add_partial_warp(const Kernel& kernel, std::vector<Advice>& out) {
  const uint64_t threads = kernel.block.count(), last = threads % 32;
  if (last == 0 || !kernel.total.warps) return;
  const uint64_t warps = kernel.warps_per_block();
  const double idle = 1 - double(threads) / double(warps * 32);
  Advice advice = of_kernel(Kind::partial_warp);
  advice.counter = "warps";
  advice.now = kernel.total.warps;
  advice.then = uint64_t(std::llround(double(advice.now) * (1 - idle)));
  advice.brief =
      fmt::format("leaves {} of 32 lanes idle in the last warp of every block", 32 - last);
  advice.reason = fmt::format(
      "a block of {} threads fills {} of {} lanes, and its last warp has {} of 32 lanes: {:.0f} % "
      "of all lanes "
      "stay idle",
      threads, threads, warps * 32, last, 100 * idle);
  advice.fix = threads < 32 ? std::string("use blocks of 32 threads or more, in multiples of 32")
                            : fmt::format("use a multiple of 32 threads: {} or {}",
                                          threads / 32 * 32, warps * 32);
  advice.saves = double(advice.now - advice.then) / 4;
  out.push_back(std::move(advice));
}

void add_local(const Kernel& kernel, std::vector<Advice>& out) {
  for (const Instruction& one : kernel.instructions) {
    if (one.reach != Reach::local || !one.counters.requests) continue;
    Advice advice = of_kernel(Kind::local);
    advice.file = one.file;
    advice.line = one.file.empty() ? one.ptx_line : one.line;
    advice.part = Part::local;
    advice.counter = "requests";
    advice.now = one.counters.requests;
    advice.brief = "keeps variables in local memory";
    advice.reason = fmt::format(
        "{} bytes a thread are in local memory, not in registers: an array whose index is not "
        "known "
        "when it is compiled, or something whose address is handed on",
        kernel.resources.local_bytes);
    advice.fix =
        "unroll the loop over the array, so that every index is a constant (#pragma unroll), or "
        "keep "
        "it in shared memory; hand on values, not addresses";
    advice.saves = double(one.counters.sectors) + double(one.counters.warps);
    out.push_back(std::move(advice));
  }
  const Resources& r = kernel.resources;
  if (!r.from_ptxas || r.spill_stores + r.spill_loads == 0) return;
  Advice advice = of_kernel(Kind::spills);
  advice.part = Part::local;
  advice.counter = "spill bytes";
  advice.now = r.spill_stores + r.spill_loads;
  advice.brief = fmt::format("spills {} bytes of registers to local memory", advice.now);
  advice.reason = fmt::format(
      "ptxas has {} registers a thread and spills: {} bytes of stores and {} of loads to local "
      "memory, which the counters here do not see",
      r.registers, r.spill_stores, r.spill_loads);
  advice.fix =
      "allow more registers (__launch_bounds__ with fewer threads or blocks, no -maxrregcount), or "
      "keep fewer values alive at a time";
  advice.saves = double(kernel.total.warps) * 0.05;
  out.push_back(std::move(advice));
}

// The most of a resource that still lets half the warps in; 0: it cannot be done that way.
template <class Fits>
uint32_t most_that(uint32_t now, uint32_t step, Fits fits) {
  for (uint32_t value = now; value > 0; value -= std::min(value, step))
    if (fits(value)) return value;
  return 0;
}

void add_occupancy(const Kernel& kernel, const GpuSpec& gpu, std::vector<Advice>& out) {
  const Occupancy& o = kernel.occupancy;
  if (o.blocks_per_sm == 0 || o.fraction >= kLowOccupancy) return;
  const int threads = int(kernel.block.count());
  const auto shared = uint32_t(kernel.resources.static_shared + kernel.resources.dynamic_shared);
  const auto registers = int(kernel.resources.registers);
  Advice advice = of_kernel(Kind::occupancy);
  advice.counter = "occupancy";
  advice.now = uint64_t(std::lround(100 * o.fraction));
  const auto reaches = [&](const KernelResources& r) {
    const double fraction = occupancy(gpu, r).fraction;
    if (fraction < kLowOccupancy) return false;
    advice.then = uint64_t(std::lround(100 * fraction));
    return true;
  };
  const std::string filled = fmt::format("{} warps of {} an SM can hold ({} %)", o.warps_per_sm,
                                         gpu.max_threads_per_sm / 32, advice.now);
  switch (o.limiter) {
    case Limiter::registers: {
      const uint32_t fits = most_that(uint32_t(registers), 1, [&](uint32_t r) {
        return reaches({threads, int(r), int64_t(shared)});
      });
      if (!fits) return;
      advice.reason = fmt::format("{} registers a thread leave room for {}", registers, filled);
      advice.fix = fmt::format(
          "with {} registers it would be {} %: __launch_bounds__({}, {}), or "
          "fewer values alive at a time",
          fits, advice.then, threads,
          std::max(1, gpu.max_threads_per_sm / 2 / std::max(32, threads)));
      break;
    }
    case Limiter::shared: {
      const uint32_t fits = most_that(shared, 128, [&](uint32_t s) {
        return reaches({threads, registers, int64_t(s)});
      });
      if (!fits) return;
      advice.reason =
          fmt::format("{} of shared memory a block leave room for {}", bytes(shared), filled);
      advice.fix = fmt::format(
          "with {} it would be {} %: a smaller tile, or more threads that "
          "share the tile",
          bytes(fits), advice.then);
      break;
    }
    case Limiter::blocks:
    case Limiter::threads: {
      int better = (threads + 31) / 32 * 32;
      while (better < 1024 && !reaches({better, registers, int64_t(shared)})) better += 32;
      if (!advice.then) return;
      advice.reason = fmt::format("blocks of {} threads: {} of them, the most an SM takes, make {}",
                                  threads, o.blocks_per_sm, filled);
      advice.fix = fmt::format("with {} threads a block it would be {} %", better, advice.then);
      break;
    }
    case Limiter::does_not_fit: return;
  }
  advice.brief =
      fmt::format("fills {} % of an SM's warps, limited by {}", advice.now, to_string(o.limiter));
  // What latency costs nobody can count; it is worth a word, not the first one.
  advice.saves = 0.03 * cost_of(kernel, gpu).sum();
  out.push_back(std::move(advice));
}

void add_idle_sms(const Kernel& kernel, const GpuSpec& gpu, std::vector<Advice>& out) {
  const uint64_t blocks = kernel.grid.count();
  if (blocks >= uint64_t(gpu.sm_count)) return;
  Advice advice = of_kernel(Kind::idle_sms);
  advice.counter = "blocks";
  advice.now = blocks;
  advice.then = uint64_t(gpu.sm_count);
  advice.brief = fmt::format("has {} blocks for {} SMs", blocks, gpu.sm_count);
  advice.reason =
      fmt::format("{} block{} leave{} {} of {} SMs idle", blocks, blocks == 1 ? "" : "s",
                  blocks == 1 ? "s" : "", uint64_t(gpu.sm_count) - blocks, gpu.sm_count);
  advice.fix = "a larger problem, smaller blocks, or several kernels at a time fill the GPU";
  advice.saves = 0.021 * cost_of(kernel, gpu).sum();
  out.push_back(std::move(advice));
}

}  // namespace

std::vector<Advice> advise_launch(const Kernel& kernel, const GpuSpec& gpu) {
  std::vector<Advice> out;
  add_divergence(kernel, out);
  add_partial_warp(kernel, out);
  add_local(kernel, out);
  add_occupancy(kernel, gpu, out);
  add_idle_sms(kernel, gpu, out);
  return out;
}

}  // namespace ridge::tools::profile
