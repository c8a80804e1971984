// Advice on a kernel as a whole: its lanes, its registers, its blocks.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/geometry.h"
#include "profile/words.h"
#include "terminal.h"

namespace ridge::tools::profile {
namespace {

constexpr double kLowOccupancy = 0.5;
constexpr double kWorthSplitting = 0.1;  // of the lanes' time lost

Advice of_kernel(Kind kind) { return Advice{.kind = kind}; }

// The share of the lanes' time that lanes were switched off; those that a block does not have are
// not counted.
double lost_lanes(const Kernel& kernel) {
  const double present =
      double(kernel.block.count()) / double(std::max<uint64_t>(1, kernel.warps_per_block()));
  return 1 - kernel.total.active_lanes() / present;
}

// What the lanes that are switched off do in the pipes and schedulers.
Work arithmetic_of(const Work& all, double share) {
  Work less;
  for (const Part part : {Part::issue, Part::fp32, Part::fp64, Part::special, Part::latency})
    less[part] = all[part] * share;
  return less;
}

void add_divergence(const Case& of, std::vector<Advice>& out) {
  const Kernel& kernel = of.kernel;
  // A guard around a few instructions, as `if (lane == 0)`, is how it should be.
  const double lost = lost_lanes(kernel);
  if (lost < kWorthSplitting) return;
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
    advice.saves = of.saved(arithmetic_of(of.all, lost * double(c.divergent) / double(all)));
    out.push_back(std::move(advice));
  }
}

void add_partial_warp(const Case& of, std::vector<Advice>& out) {
  const Kernel& kernel = of.kernel;
  const uint64_t threads = kernel.block.count(), last = threads % 32;
  if (last == 0 || !kernel.total.warps) return;
  const uint64_t warps = kernel.warps_per_block();
  const double idle = 1 - double(threads) / double(warps * 32);
  Advice advice = of_kernel(Kind::partial_warp);
  advice.counter = "warps";
  advice.now = kernel.total.warps;
  // The same threads in whole warps, which may be as many as before.
  const uint64_t blocks = kernel.grid.count(), whole = (blocks * threads + 31) / 32;
  const double left = double(whole) / double(blocks * warps);
  advice.then = scaled(advice.now, left);
  advice.brief =
      fmt::format("leaves {} of 32 lanes idle in the last warp of every block", 32 - last);
  advice.reason = fmt::format(
      "a block of {} fills {} of {} lanes, and its last warp has {} of 32 lanes: {:.0f} % of all "
      "lanes stay idle",
      counted(threads, "thread"), threads, warps * 32, last, 100 * idle);
  advice.fix = threads < 32 ? std::string("use blocks of 32 threads or more, in multiples of 32")
                            : fmt::format("use a multiple of 32 threads: {} or {}",
                                          threads / 32 * 32, warps * 32);
  Work less = arithmetic_of(of.all, 1 - left);
  less[Part::latency] = 0;  // each warp waits as long as before
  advice.saves = of.saved(less);
  out.push_back(std::move(advice));
}

void add_local(const Case& of, std::vector<Advice>& out) {
  if (is_local_in_registers(of.kernel)) return;
  for (const Line& line : of.kernel.lines) {
    Work less;
    uint64_t requests = 0;
    for (const size_t i : line.instructions) {
      const Instruction& one = of.kernel.instructions[i];
      if (one.reach != Reach::local) continue;
      requests += one.counters.requests;
      less += of.works[i];
    }
    if (!requests) continue;
    Advice advice = of_kernel(Kind::local);
    advice.file = line.file;
    advice.line = line.line;
    advice.part = Part::l1;
    advice.counter = "requests to local memory";
    advice.now = requests;
    advice.brief = "keeps variables in local memory";
    advice.reason = fmt::format(
        "{} per thread are in local memory, not in registers: an array whose index is not known "
        "when it is compiled, or something whose address is handed on",
        counted(of.kernel.resources.local_bytes, "byte"));
    advice.fix =
        "unroll the loop over the array, so that every index is a constant (#pragma unroll), or "
        "keep it in shared memory; hand on values, not addresses";
    advice.saves = of.saved(less);
    out.push_back(std::move(advice));
  }
}

void add_spills(const Case& of, std::vector<Advice>& out) {
  const Resources& r = of.kernel.resources;
  const uint64_t spilled = r.spill_stores + r.spill_loads;
  if (!r.from_ptxas || spilled == 0) return;
  Advice advice = of_kernel(Kind::spills);
  advice.part = Part::l1;
  advice.counter = "spill bytes";
  advice.now = spilled;
  advice.brief = fmt::format("spills {} of registers to local memory", counted(spilled, "byte"));
  advice.reason = fmt::format(
      "ptxas has {} registers per thread and spills: {} bytes of stores and {} of loads to local "
      "memory, which the counters here do not see",
      r.registers, r.spill_stores, r.spill_loads);
  advice.fix =
      "allow more registers (__launch_bounds__ with fewer threads or blocks, no -maxrregcount), or "
      "keep fewer values alive at a time";
  // Each of those instructions is executed as often as the others are on average, at a line each.
  const double others = std::max(1.0, double(of.kernel.instructions.size()));
  const double executed = double(of.kernel.total.warps) / others * double(spilled) / 4;
  Work less;
  less[Part::l1] = -2 * executed;
  less[Part::issue] = -executed / 4;
  // The counters do not have it: it comes on top of them.
  const double more = -of.saved(less);
  advice.saves = more / (1 + more);
  out.push_back(std::move(advice));
}

// The most of a resource that still lets half the warps in; 0: it cannot be done that way.
template <class Fits>
uint32_t most_that(uint32_t now, uint32_t step, Fits fits) {
  for (uint32_t value = now; value > 0; value -= std::min(value, step))
    if (fits(value)) return value;
  return 0;
}

void add_occupancy(const Case& of, std::vector<Advice>& out) {
  const Kernel& kernel = of.kernel;
  const GpuSpec& gpu = of.gpu;
  const Occupancy& o = kernel.occupancy;
  if (o.blocks_per_sm == 0 || o.fraction >= kLowOccupancy) return;
  const int threads = int(kernel.block.count());
  const auto shared = uint32_t(kernel.resources.static_shared + kernel.resources.dynamic_shared);
  const auto registers = int(kernel.resources.registers);
  Advice advice = of_kernel(Kind::occupancy);
  advice.counter = "occupancy";
  advice.now = uint64_t(std::lround(100 * o.fraction));
  Occupancy better_one;
  const auto reaches = [&](const KernelResources& r) {
    better_one = occupancy(gpu, r);
    if (better_one.fraction < kLowOccupancy) return false;
    advice.then = uint64_t(std::lround(100 * better_one.fraction));
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
      advice.reason = fmt::format("{} registers per thread leave room for {}", registers, filled);
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
          fmt::format("{} of shared memory per block leave room for {}", bytes(shared), filled);
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
      advice.reason = fmt::format("blocks of {}: {} of them, the most an SM takes, make {}",
                                  counted(uint64_t(threads), "thread"), o.blocks_per_sm, filled);
      advice.fix = fmt::format("with {} threads per block it would be {} %", better, advice.then);
      break;
    }
    case Limiter::does_not_fit: return;
  }
  advice.brief =
      fmt::format("fills {} % of an SM's warps, limited by {}", advice.now, to_string(o.limiter));
  // More blocks at a time are fewer waves of them, whose latency is waited for.
  Spread other = of.spread;
  const double warps_now = std::max(1, o.warps_per_sm), warps_then = better_one.warps_per_sm;
  other.waves = std::max(1.0, std::ceil(of.spread.waves * warps_now / warps_then));
  advice.saves = of.saved(other);
  out.push_back(std::move(advice));
}

void add_idle_sms(const Case& of, std::vector<Advice>& out) {
  constexpr double kLongThread = 64;  // instructions: a thread that could do less
  const auto sms = uint64_t(of.gpu.sm_count), blocks = of.kernel.grid.count();
  if (blocks >= sms) return;
  const uint64_t threads = of.kernel.block.count();
  Advice advice = of_kernel(Kind::idle_sms);
  advice.counter = "SMs with a block";
  advice.now = blocks;
  advice.brief = fmt::format("leaves {} of {} SMs idle: it has {} of {}", sms - blocks, sms,
                             counted(blocks, "block"), counted(threads, "thread"));
  advice.reason =
      fmt::format("{} of {} SMs are idle: there {} {} of {}", sms - blocks, sms,
                  blocks == 1 ? "is" : "are", counted(blocks, "block"), counted(threads, "thread"));
  // The same warps in smaller blocks: each waits as long as before.
  const uint64_t smaller = std::max<uint64_t>(32, blocks * threads / sms / 32 * 32);
  const uint64_t more = (blocks * threads + smaller - 1) / smaller;
  Spread smaller_blocks = of.spread;
  smaller_blocks.busiest *= double(blocks) / double(std::min(sms, std::max(more, blocks)));
  // The same work for more threads: each has less to wait for.
  Spread more_threads = of.spread;
  more_threads.busiest *= double(blocks) / double(sms);
  more_threads.waves *= double(blocks) / double(sms);
  const bool splits = double(of.kernel.total.warps) >= kLongThread * of.spread.warps;
  advice.saves = of.saved(splits ? more_threads : smaller_blocks);
  advice.then = splits ? sms : std::min(sms, more);
  advice.fix =
      splits ? fmt::format(
                   "give each thread less, and start more of them: {} blocks of 32 threads "
                   "or more (one thread for each turn of the loop over the data)",
                   sms)
             : fmt::format("blocks of {} threads would be {}", smaller, counted(more, "block"));
  out.push_back(std::move(advice));
}

}  // namespace

void advise_launch(const Case& of, std::vector<Advice>& out) {
  add_divergence(of, out);
  add_partial_warp(of, out);
  add_local(of, out);
  add_spills(of, out);
  add_occupancy(of, out);
  add_idle_sms(of, out);
}

}  // namespace ridge::tools::profile
