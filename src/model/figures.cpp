#include "model/figures.h"

#include <string_view>
#include <utility>
#include <vector>

namespace ridge::model {
namespace {

const std::vector<std::pair<std::string_view, Figures>>& all_figures() {
  static const std::vector<std::pair<std::string_view, Figures>> figures = {
#include "gpu_figures.inc"  // made of src/core/gpus.json
  };
  return figures;
}

const Figures* find(std::string_view key) {
  for (const auto& [name, figures] : all_figures())
    if (name == key) return &figures;
  return nullptr;
}

// The newest known one of the same compute capability, or else of the nearest below it.
const GpuSpec& nearest(const GpuSpec& gpu) {
  const auto number = [](const GpuSpec& one) { return 10 * one.major + one.minor; };
  const GpuSpec* best = nullptr;
  const GpuSpec* oldest = &all_gpus().front();
  for (const GpuSpec& one : all_gpus()) {
    if (number(one) < number(*oldest)) oldest = &one;
    if (number(one) <= number(gpu) && (!best || number(one) > number(*best))) best = &one;
  }
  return best ? *best : *oldest;
}

double pins(const GpuSpec& gpu) {  // bytes per ns; two transfers per clock
  return 2e-6 * gpu.memory_clock_khz * gpu.memory_bus_bits / 8;
}

}  // namespace

Figures figures_of(const GpuSpec& gpu) {
  if (const Figures* known = find(gpu.key)) return *known;
  const GpuSpec& like = nearest(gpu);
  Figures f = *find(like.key);
  f.checked = false;
  f.sms = gpu.sm_count;
  f.clock_ghz = gpu.clock_khz / 1e6;
  f.l1_bytes *= double(gpu.shared_per_sm) / like.shared_per_sm;
  for (double* bytes : {&f.l2_bytes, &f.l2_dirty_bytes, &f.l2_kept_bytes})
    *bytes *= double(gpu.l2_bytes) / double(like.l2_bytes);
  const double faster = f.clock_ghz * 1e6 / like.clock_khz;
  const double larger = faster * f.sms / like.sm_count;
  const double memory = pins(like) > 0 && pins(gpu) > 0 ? pins(gpu) / pins(like) : 1;
  for (double* cycles : {&f.dram_latency, &f.dram_spread, &f.dram_queueing}) *cycles *= faster;
  for (double* rate : {&f.dram_peak_bytes_per_ns, &f.dram_read_bytes_per_ns,
                       &f.dram_write_bytes_per_ns, &f.dram_copy_bytes_per_ns})
    *rate *= memory;
  f.dram_bytes_per_cycle *= memory / larger;
  f.l2_write_completed *= larger / memory;
  for (auto* rates : {&f.atomic_lanes_per_ns, &f.atomic_float_lanes_per_ns})
    for (double& rate : *rates) rate *= faster;
  for (double* rate : {&f.atomic_coalesced_lanes_per_ns, &f.l2_peak_bytes_per_ns}) *rate *= larger;
  f.block_interval *= double(f.sms) / like.sm_count;
  return f;
}

}  // namespace ridge::model
