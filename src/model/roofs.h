// The most that a GPU can do: bytes of its memory, and operations of each kind of arithmetic. From
// the same figures as the model of time.
#pragma once

#include <array>

#include "core/arithmetic.h"
#include "core/gpu_spec.h"

namespace ridge::model {

struct Roofs {
  bool checked = false;                       // figures_of(gpu).checked
  double read = 0, write = 0, copy = 0;       // bytes per second: the best streams
  double pins = 0;                            // bytes per second: what the memory's pins could
  double l2 = 0;                              // bytes per second, between all SMs and the L2
  std::array<double, kArithmetics> ops = {};  // operations per second

  double of(Arithmetic kind) const { return ops[size_t(kind)]; }
  // For so many bytes: reads, writes, or both.
  double memory(double bytes_read, double bytes_written) const;
};
Roofs roofs_of(const GpuSpec& gpu);

// The shortest time for bytes and operations, which overlap, and what it comes from.
struct Floor {
  double us = 0;
  bool by_memory = true;
};
Floor floor_of(double memory_us, double operations, double ops_per_second);

}  // namespace ridge::model
