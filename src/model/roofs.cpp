#include "model/roofs.h"

#include "model/figures.h"

namespace ridge::model {

// Copies, where both are moved; a stream of one kind has a roof of its own.
double Roofs::memory(double bytes_read, double bytes_written) const {
  const double total = bytes_read + bytes_written;
  if (bytes_written < 0.05 * total) return read;
  if (bytes_read < 0.05 * total) return write;
  return copy;
}

Roofs roofs_of(const GpuSpec& gpu) {
  const Figures f = figures_of(gpu);
  Roofs roofs = {.checked = f.checked,
                 .read = 1e9 * f.dram_read_bytes_per_ns,
                 .write = 1e9 * f.dram_write_bytes_per_ns,
                 .copy = 1e9 * f.dram_copy_bytes_per_ns,
                 .pins = 1e9 * f.dram_peak_bytes_per_ns};
  const double cycles = 1e9 * f.clock_ghz * f.sms;  // of all SMs, per second
  roofs.l2 = f.l2_bytes_per_cycle * cycles;
  const auto set = [&](Arithmetic kind, double per_cycle) {
    roofs.ops[size_t(kind)] = per_cycle * cycles;
  };
  set(Arithmetic::f32, 2 * f.fma_lanes);
  set(Arithmetic::f64, 2 * f.fp64_lanes);
  set(Arithmetic::f16, 4 * f.half_lanes);
  // Sums and logic in one pipe, products in another.
  set(Arithmetic::integer, f.alu_lanes + f.imad_lanes);
  set(Arithmetic::special, f.sfu_lanes);
  set(Arithmetic::tensor_f16, f.tensor_f16);
  set(Arithmetic::tensor_tf32, f.tensor_tf32);
  set(Arithmetic::tensor_fp8, f.tensor_fp8);
  set(Arithmetic::tensor_int8, f.tensor_int8);
  set(Arithmetic::tensor_f64, f.tensor_f64);
  return roofs;
}

Floor floor_of(double memory_us, double operations, double ops_per_second) {
  const double arithmetic_us = ops_per_second > 0 ? 1e6 * operations / ops_per_second : 0;
  if (arithmetic_us > memory_us) return {arithmetic_us, false};
  return {memory_us, true};
}

}  // namespace ridge::model
