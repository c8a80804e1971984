// Rates and latencies are those of the GPU's figures (src/core/gpus.json). Since compute capability
// 7, four schedulers each issue one warp instruction per cycle, and the first cache looks up one
// line in two cycles. Reductions and atomics end in the L2: on one address one at a time.
#include "profile/time.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "model/figures.h"
#include "profile/roofline.h"

namespace ridge::tools::profile {
namespace {

constexpr double kIssuePerCycle = 4;
constexpr double kCyclesPerLine = 2;
constexpr double kOthers = 0.25;          // how much the parts count that are not the longest
constexpr double kArithmeticLatency = 4;  // cycles until a result can be used

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_atomic(const Instruction& one) {
  return one.action == Action::reduction || one.action == Action::atomic;
}

// The part of its sectors that come from the L2, if the first cache keeps a tile.
double share_from_l2(const Instruction& one) {
  if (one.action == Action::store) return 1;  // stores go through
  const Seen& seen = one.seen_global;
  return seen.moved ? double(seen.once) / double(seen.moved) : 1;
}

// The part of its requests that wait for a sector from the L2 or from further away.
double misses(const Instruction& one) {
  const Seen& seen = one.seen_global;
  return seen.requests ? std::min(1.0, double(seen.once) / double(seen.requests)) : 1;
}

double latency_of(const Instruction& one, const model::Figures& f) {
  const Counters& c = one.counters;
  if (c.barriers || c.cluster_barriers)  // of four warps
    return (f.barrier_latency + 4 * f.barrier_per_warp) * double(c.barriers + c.cluster_barriers);
  if (!one.waits) return double(c.warps);  // it is issued, and nobody waits for it
  if (one.action == Action::load || one.action == Action::atomic) {
    if (c.shared_requests) return f.shared_latency * double(c.shared_requests);
    // A sector that is missing comes from the L2 or from DRAM: the counters do not tell which.
    const double missing = (f.l2_latency + f.dram_latency) / 2;
    if (c.requests) return (f.l1_latency + missing * misses(one)) * double(c.requests);
  }
  return kArithmeticLatency * double(c.warps);
}

Work work_of(const Instruction& one, const Kernel& kernel, const model::Figures& f) {
  Work work;
  const Counters& c = one.counters;
  const double warps = double(c.warps), sectors = double(c.sectors);
  work[Part::issue] = warps / kIssuePerCycle;
  work[Part::latency] = latency_of(one, f);
  const std::string_view unit = unit_of(one);
  if (unit == "fma") work[Part::fp32] = warps * 32 / f.fma_lanes;
  if (unit == "fp64") work[Part::fp64] = warps * 32 / f.fp64_lanes;
  if (unit == "sfu") work[Part::special] = warps * 32 / f.sfu_lanes;
  if (unit == "conv" && has(one.ptx, ".f64"))
    work[Part::special] = warps * 32 / std::min(f.sfu_lanes, f.fp64_lanes);
  if (one.source != Source::none)
    work[Part::tensor] = double(c.tensor_ops) / tensor_ops_per_cycle(one, f, one.warpgroup);
  work[Part::shared] = double(c.wavefronts);
  if (one.reach == Reach::local) {
    if (is_local_in_registers(kernel)) return work;
    work[Part::l1] = kCyclesPerLine * double(c.lines);
    return work;
  }
  work[Part::dram] = double(c.first_sectors) * 32 * f.clock_ghz / f.dram_peak_bytes_per_ns;
  if (is_atomic(one)) {
    // The SMs get in each other's way where they go to the same few sectors.
    const double places = std::max(1.0, double(one.end - one.lowest) / 32);
    work[Part::atomics] = sectors * std::max(1.0, f.sms / places);
  } else {
    work[Part::l1] = kCyclesPerLine * double(c.lines);
    work[Part::l2] = sectors * 32 / f.l2_bytes_per_cycle * share_from_l2(one);
  }
  return work;
}

}  // namespace

const char* name_of(Part part) {
  switch (part) {
    case Part::dram: return "DRAM";
    case Part::l2: return "L2 traffic";
    case Part::l1: return "global accesses";
    case Part::atomics: return "atomics";
    case Part::shared: return "shared memory";
    case Part::fp32: return "FMA pipe";
    case Part::fp64: return "FP64 pipe";
    case Part::special: return "special functions";
    case Part::tensor: return "tensor cores";
    case Part::issue: return "instruction issue";
    case Part::latency: return "latency";
  }
  return "";
}

// A sparse product has twice the depth in the same time.
double tensor_ops_per_cycle(const Instruction& one, const model::Figures& f, bool all) {
  const double each = one.sparse ? 2 : 1;
  switch (one.source) {
    case Source::tf32: return each * (all ? f.tensor_tf32 : f.mma_tf32);
    case Source::fp8: return each * (all ? f.tensor_fp8 : f.mma_fp8);
    case Source::int8: return each * (all ? f.tensor_int8 : f.mma_int8);
    case Source::int1: return each * 8 * (all ? f.tensor_int8 : f.mma_int8);
    case Source::f64: return all ? f.tensor_f64 : f.mma_f64;
    default: return each * (all ? f.tensor_f16 : f.mma_f16);
  }
}

std::string_view unit_of(const Instruction& one) {
  if (!one.unit.empty()) return one.unit;
  if (has(one.ptx, "mma")) return "tensor";
  if (has(one.ptx, ".approx")) return "sfu";
  if (has(one.ptx, ".f64")) return "fp64";
  if (one.ptx.starts_with("fma") || has(one.ptx, ".f32")) return "fma";
  return "alu";
}

bool is_local_in_registers(const Kernel& kernel) {
  return kernel.resources.from_ptxas && kernel.resources.local_bytes == 0;
}

Work& Work::operator+=(const Work& other) {
  for (size_t i = 0; i < kParts; ++i) cycles[i] += other.cycles[i];
  return *this;
}
Work& Work::operator-=(const Work& other) {
  for (size_t i = 0; i < kParts; ++i) cycles[i] = std::max(0.0, cycles[i] - other.cycles[i]);
  return *this;
}
Work Work::operator*(double factor) const {
  Work out = *this;
  for (double& c : out.cycles) c *= factor;
  return out;
}

std::vector<Work> work_of(const Kernel& kernel, const GpuSpec& gpu) {
  const model::Figures figures = model::figures_of(gpu);
  std::vector<Work> works;
  for (const Instruction& one : kernel.instructions) works.push_back(work_of(one, kernel, figures));
  return works;
}

Work sum_of(const std::vector<Work>& works) {
  Work sum;
  for (const Work& work : works) sum += work;
  return sum;
}

Spread Spread::of(const Kernel& kernel, const GpuSpec& gpu) {
  Spread spread;
  spread.launches = std::max<uint64_t>(1, kernel.launches);
  spread.blocks = std::max<uint64_t>(1, kernel.grid.count());
  const double sms = gpu.sm_count, blocks = double(spread.blocks);
  spread.sms = std::min(sms, blocks);
  const double on_busiest = std::ceil(blocks / sms);
  spread.busiest = on_busiest / blocks;
  spread.waves = std::ceil(on_busiest / std::max(1, kernel.occupancy.blocks_per_sm));
  spread.warps = double(spread.launches) * blocks * double(kernel.warps_per_block());
  return spread;
}

Part Time::longest() const {
  return Part(std::max_element(cycles.begin(), cycles.end()) - cycles.begin());
}
double Time::weight(Part part) const { return part == longest() ? 1 : kOthers; }
double Time::total() const {
  double total = 0;
  for (size_t i = 0; i < kParts; ++i) total += weight(Part(i)) * cycles[i];
  return total;
}

Time time_of(const Work& work, const Spread& spread) {
  Time time;
  for (size_t i = 0; i < kParts; ++i) time.cycles[i] = work.cycles[i] * spread.busiest;
  const auto cycles = [&](Part part) -> double& { return time.cycles[size_t(part)]; };
  cycles(Part::dram) = work[Part::dram];
  cycles(Part::latency) =
      work[Part::latency] / spread.warps * spread.waves * double(spread.launches);
  return time;
}

Time time_of(const Kernel& kernel, const GpuSpec& gpu) {
  return time_of(sum_of(work_of(kernel, gpu)), Spread::of(kernel, gpu));
}

void rank_lines(Kernel& kernel, const GpuSpec& gpu) {
  const std::vector<Work> works = work_of(kernel, gpu);
  const Work all = sum_of(works);
  const Time time = time_of(all, Spread::of(kernel, gpu));
  for (Line& line : kernel.lines) {
    Work work;
    for (const size_t i : line.instructions) work += works[i];
    line.cost = 0;
    for (size_t i = 0; i < kParts; ++i)
      if (all.cycles[i] > 0)
        line.cost += time.weight(Part(i)) * time.cycles[i] * work.cycles[i] / all.cycles[i];
  }
  std::ranges::stable_sort(kernel.lines, std::greater<>{}, &Line::cost);
}

}  // namespace ridge::tools::profile
