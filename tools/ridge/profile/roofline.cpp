#include "profile/roofline.h"

#include <charconv>
#include <string_view>

#include "profile/time.h"

namespace ridge::tools::profile {
namespace {

constexpr double kL2BytesPerCycle = 32;  // of one SM

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
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

double flops_of(const Instruction& one) {
  const std::string_view ptx = one.ptx;
  if (contains(ptx, "mma.")) {
    const double product = matrix_flops(ptx);
    const double warps = double(one.counters.warps);
    return ptx.starts_with("wgmma") ? product * warps / 4
                                    : product * warps;  // four warps share one
  }
  const bool floating = contains(ptx, ".f32") || contains(ptx, ".f64") || contains(ptx, ".f16") ||
                        contains(ptx, ".bf16");
  if (!floating) return 0;
  const double lanes = contains(ptx, "16x2") || contains(ptx, "f32x2") ? 2 : 1;
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

double memory_bytes_per_second(const GpuSpec& gpu) {
  return 2.0 * gpu.memory_clock_khz * 1e3 * gpu.memory_bus_bits / 8;
}

Roofline roofline_of(const Kernel& kernel, const GpuSpec& gpu) {
  Roofline roof;
  double fp64 = 0;
  for (const Instruction& one : kernel.instructions) {
    const double flops = flops_of(one);
    roof.flops += flops;
    if (unit_of(one) == "fp64") fp64 += flops;
    if (one.reach != Reach::global) continue;
    roof.dram_bytes += double(one.counters.first_sectors) * 32;
    roof.l2_bytes += double(one.counters.sectors) * 32;
  }
  roof.fp64 = fp64 * 2 > roof.flops;
  const double lanes = roof.fp64 ? gpu.fp64_lanes_per_sm : gpu.fp32_lanes_per_sm;
  const double cycles = gpu.sm_count * gpu.clock_khz * 1e3;  // of all SMs, per second
  roof.peak_flops = 2.0 * lanes * cycles;
  roof.dram_rate = memory_bytes_per_second(gpu);
  roof.l2_rate = kL2BytesPerCycle * cycles;
  return roof;
}

}  // namespace ridge::tools::profile
