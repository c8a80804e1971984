#include "profile/roofline.h"

#include <string_view>

#include "model/roofs.h"
#include "profile/time.h"

namespace ridge::tools::profile {
namespace {

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

Roofline roofline_of(const Kernel& kernel, const GpuSpec& gpu) {
  const model::Figures figures = model::figures_of(gpu);
  const model::Roofs most = model::roofs_of(gpu);
  Roofline roof;
  double fp64 = 0, tensor = 0, tensor_cycles = 0;
  for (const Instruction& one : kernel.instructions) {
    const double flops = flops_of(one);
    roof.flops += flops;
    if (unit_of(one) == "fp64") fp64 += flops;
    if (one.source != Source::none) {
      tensor += flops;
      tensor_cycles += flops / tensor_ops_per_cycle(one, figures, /*all=*/true);
    }
    if (one.reach != Reach::global && one.reach != Reach::bulk) continue;
    roof.dram_bytes += double(one.counters.first_sectors) * 32;
    // A copy to several blocks is read once.
    const Counters& c = one.counters;
    roof.l2_bytes += double(one.reach == Reach::bulk ? c.l2_sectors : c.sectors) * 32;
  }
  if (tensor * 2 > roof.flops) {
    roof.format = "tensor";
    roof.peak_flops = tensor / tensor_cycles * 1e9 * figures.clock_ghz * figures.sms;
  } else {
    const bool doubles = fp64 * 2 > roof.flops;
    roof.format = doubles ? "FP64" : "FP32";
    roof.peak_flops = most.of(doubles ? Arithmetic::f64 : Arithmetic::f32);
  }
  roof.dram_rate = most.pins;
  roof.l2_rate = most.l2;
  roof.checked = most.checked;
  return roof;
}

}  // namespace ridge::tools::profile
