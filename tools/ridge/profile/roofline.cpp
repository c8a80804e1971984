#include "profile/roofline.h"

#include <string_view>

#include "profile/time.h"

namespace ridge::tools::profile {
namespace {

constexpr double kL2BytesPerCycle = 32;  // of one SM

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

double flops_of(const Instruction& one) {
  const std::string_view ptx = one.ptx;
  if (one.source != Source::none) return double(one.counters.tensor_ops);
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
  double fp64 = 0, tensor = 0, tensor_cycles = 0;
  for (const Instruction& one : kernel.instructions) {
    const double flops = flops_of(one);
    roof.flops += flops;
    if (unit_of(one) == "fp64") fp64 += flops;
    if (one.source != Source::none) {
      tensor += flops;
      tensor_cycles += flops / tensor_ops_per_cycle(one);
    }
    if (one.reach != Reach::global && one.reach != Reach::bulk) continue;
    roof.dram_bytes += double(one.counters.first_sectors) * 32;
    // A copy to several blocks is read once.
    const Counters& c = one.counters;
    roof.l2_bytes += double(one.reach == Reach::bulk ? c.l2_sectors : c.sectors) * 32;
  }
  const double cycles = gpu.sm_count * gpu.clock_khz * 1e3;  // of all SMs, per second
  if (tensor * 2 > roof.flops) {
    roof.format = "tensor";
    roof.peak_flops = tensor / tensor_cycles * cycles;
  } else {
    const bool doubles = fp64 * 2 > roof.flops;
    roof.format = doubles ? "FP64" : "FP32";
    roof.peak_flops = 2.0 * (doubles ? gpu.fp64_lanes_per_sm : gpu.fp32_lanes_per_sm) * cycles;
  }
  roof.dram_rate = memory_bytes_per_second(gpu);
  roof.l2_rate = kL2BytesPerCycle * cycles;
  return roof;
}

}  // namespace ridge::tools::profile
