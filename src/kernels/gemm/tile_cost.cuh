// Predicted times of the f32 rungs whose tiles take turns on the SMs.
#pragma once

#include "kernels/gemm/launch.cuh"

namespace ridge::gemm {

// Microseconds on an H200. An SM holds up to `per_sm` blocks. With at most `few` of them, no two
// warps share a scheduler, and a step takes less time.
struct TilePace {
  int per_sm, few;
  double step, few_step;
  double tile;  // start and end of a tile
};

// Time of as many blocks, each of which makes as many steps. `follows` says that other blocks run
// before them: then blocks go where others end first, and do not spread evenly over the SMs.
inline double turns_us(const TilePace& pace, int64_t blocks, int64_t steps,
                       const DeviceInfo& device, bool follows = false) {
  const int64_t slots = int64_t(pace.per_sm) * device.sm_count;
  const int64_t turns = blocks / slots, rest = blocks % slots;
  double us = double(turns) * (double(steps) * pace.step + pace.tile);
  if (rest == 0) return us;
  const int few = turns > 0 || follows ? std::min(pace.few, 1) : pace.few;
  const bool is_few = rest <= int64_t(few) * device.sm_count;
  return us + double(steps) * (is_few ? pace.few_step : pace.step) + pace.tile;
}

// Where neither step is 1, the matrix has one row or one column.
inline bool is_along_x(int64_t x_step, int64_t k_step, int64_t xs) {
  return k_step != 1 && (x_step == 1 || xs == 1);
}
inline bool a_is_along_x(const Args& args) {
  return is_along_x(args.a.row_step, args.a.col_step, args.m);
}
inline bool b_is_along_x(const Args& args) {
  return is_along_x(args.b.col_step, args.b.row_step, args.n);
}

// One number for each transposition, in which a and b have x or the depth contiguous.
struct ByTransposition {
  double x_x, x_depth, depth_x, depth_depth;

  double of(const Args& args) const {
    const bool b = b_is_along_x(args);
    if (a_is_along_x(args)) return b ? x_x : x_depth;
    return b ? depth_x : depth_depth;
  }
};

}  // namespace ridge::gemm
