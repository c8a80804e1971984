// The rates are those of one SM since compute capability 7: four schedulers issue a warp
// instruction a cycle each, shared memory serves a wavefront a cycle, and one sector of 32 bytes
// comes from or goes to the L2 in a cycle. Reductions and atomics end in the L2: on one address one
// at a time.
#include "profile/bound.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

#include "profile/geometry.h"

namespace ridge::tools::profile {
namespace {

constexpr double kIssuePerCycle = 4;
constexpr double kSpecialLanes = 16;
constexpr double kTensorFlopsPerCycle = 4096;  // dense 16-bit, an SM of the H200

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The unit, from the wire or, where an older one does not say, from the spelling.
std::string_view unit_of(const Instruction& one) {
  if (!one.unit.empty()) return one.unit;
  if (has(one.ptx, "mma")) return "tensor";
  if (has(one.ptx, ".approx")) return "sfu";
  if (has(one.ptx, ".f64")) return "fp64";
  if (one.ptx.starts_with("fma") || has(one.ptx, ".f32")) return "fma";
  return "alu";
}

// m16n8k16 → 2·16·8·16; 0 where the spelling has no such part.
double matrix_flops(std::string_view ptx) {
  for (size_t at = ptx.find(".m"); at != std::string_view::npos; at = ptx.find(".m", at + 1)) {
    double product = 2;
    const char* p = ptx.data() + at + 1;
    const char* const end = ptx.data() + ptx.size();
    int sizes = 0;
    for (const char letter : {'m', 'n', 'k'}) {
      int size = 0;
      if (p == end || *p != letter) break;
      const auto [next, error] = std::from_chars(p + 1, end, size);
      if (error != std::errc()) break;
      product *= size;
      p = next;
      ++sizes;
    }
    if (sizes == 3) return product;
  }
  return 0;
}

}  // namespace

const char* name_of(Part part) {
  switch (part) {
    case Part::global_loads: return "global loads";
    case Part::global_stores: return "global stores";
    case Part::atomics: return "atomics";
    case Part::local: return "local memory";
    case Part::shared: return "shared memory";
    case Part::fp32: return "FMA pipe";
    case Part::fp64: return "FP64 pipe";
    case Part::special: return "special functions";
    case Part::tensor: return "tensor cores";
    case Part::issue: return "instruction issue";
  }
  return "";
}

Part Costs::longest() const {
  return Part(std::max_element(cycles.begin(), cycles.end()) - cycles.begin());
}
double Costs::sum() const { return std::accumulate(cycles.begin(), cycles.end(), 0.0); }
Costs& Costs::operator+=(const Costs& other) {
  for (size_t i = 0; i < kParts; ++i) cycles[i] += other.cycles[i];
  return *this;
}

double flops_of(const Instruction& one) {
  const std::string_view ptx = one.ptx;
  if (has(ptx, "mma.")) {
    const double product = matrix_flops(ptx);
    const double warps = double(one.counters.warps);
    return ptx.starts_with("wgmma") ? product * warps / 4
                                    : product * warps;  // four warps share one
  }
  const bool floating =
      has(ptx, ".f32") || has(ptx, ".f64") || has(ptx, ".f16") || has(ptx, ".bf16");
  if (!floating) return 0;
  const double lanes = has(ptx, "16x2") || has(ptx, "f32x2") ? 2 : 1;
  const std::string_view op = ptx.substr(0, ptx.find('.'));
  const double each = op == "fma" || op == "mad" ? 2
                      : op == "add" || op == "sub" || op == "mul" || op == "div" || op == "rcp" ||
                              op == "sqrt" || op == "rsqrt" || op == "ex2" || op == "lg2" ||
                              op == "sin" || op == "cos" || op == "tanh"
                          ? 1
                          : 0;
  return each * lanes * double(one.counters.threads);
}

double flops_of(const Kernel& kernel) {
  double flops = 0;
  for (const Instruction& one : kernel.instructions) flops += flops_of(one);
  return flops;
}

Costs cost_of(const Instruction& one, const GpuSpec& gpu) {
  Costs costs;
  const auto cycles = [&](Part part) -> double& { return costs.cycles[size_t(part)]; };
  const double warps = double(one.counters.warps), sectors = double(one.counters.sectors);
  cycles(Part::issue) = warps / kIssuePerCycle;
  const std::string_view unit = unit_of(one);
  if (unit == "fma") cycles(Part::fp32) = warps * 32 / gpu.fp32_lanes_per_sm;
  if (unit == "fp64") cycles(Part::fp64) = warps * 32 / gpu.fp64_lanes_per_sm;
  if (unit == "sfu") cycles(Part::special) = warps * 32 / kSpecialLanes;
  if (unit == "tensor") cycles(Part::tensor) = flops_of(one) / kTensorFlopsPerCycle;
  cycles(Part::shared) = double(one.counters.wavefronts);
  if (one.reach == Reach::local) {
    cycles(Part::local) = sectors;
  } else if (one.action == Action::reduction || one.action == Action::atomic) {
    const bool one_place = one.worst && lanes_a_place(*one.worst) > 1;
    cycles(Part::atomics) = one_place ? sectors * gpu.sm_count : sectors;
  } else {
    cycles(one.action == Action::store ? Part::global_stores : Part::global_loads) = sectors;
  }
  return costs;
}

Costs cost_of(const Kernel& kernel, const GpuSpec& gpu) {
  Costs costs;
  for (const Instruction& one : kernel.instructions) costs += cost_of(one, gpu);
  return costs;
}

void rank_lines(Kernel& kernel, const GpuSpec& gpu) {
  for (Line& line : kernel.lines) {
    line.cost = 0;
    for (const size_t i : line.instructions)
      line.cost += cost_of(kernel.instructions[i], gpu).sum();
  }
  std::ranges::stable_sort(kernel.lines, std::greater<>{}, &Line::cost);
}

Roofline roofline_of(const Kernel& kernel, const GpuSpec& gpu) {
  Roofline roof;
  double fp64 = 0;
  for (const Instruction& one : kernel.instructions) {
    const double flops = flops_of(one);
    roof.flops += flops;
    if (unit_of(one) == "fp64") fp64 += flops;
    if (one.reach != Reach::global) continue;
    roof.bytes += double(one.counters.sectors) * 32;
    roof.bytes_used += double(one.counters.bytes_used);
  }
  roof.fp64 = fp64 * 2 > roof.flops;
  const double lanes = roof.fp64 ? gpu.fp64_lanes_per_sm : gpu.fp32_lanes_per_sm;
  roof.peak_flops = 2.0 * lanes * gpu.sm_count * gpu.clock_khz * 1e3;
  roof.peak_bytes = 2.0 * gpu.memory_clock_khz * 1e3 * gpu.memory_bus_bits / 8;
  return roof;
}

}  // namespace ridge::tools::profile
