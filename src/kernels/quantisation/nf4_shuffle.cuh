// nf4 by tables that the lanes of a warp hold: a shuffle with the code, or with the cell that a
// number lies in, looks up its entry.
//
// Cell k are the numbers x with round(15.2 x + 16) = k. Cells are narrower than the distance of any
// two thresholds, and no threshold lies at their edges, so a cell has at most one: the code of x is
// the number of thresholds below the cell, and one more if x is above the cell's next threshold.
#pragma once

#include "kernels/quantisation/codec.cuh"

namespace ridge::quantisation {

struct Nf4Cells {
  static constexpr float kCells = 15.2f, kMiddle = 16;
  struct Cell {
    float next;      // the first threshold that is not below the cell
    uint32_t below;  // how many are
  } cells[kWarpSize] = {};
  float values[kWarpSize] = {};

  constexpr Nf4Cells() {
    for (int k = 0; k < kWarpSize; ++k) {
      const float begin = (float(k) - kMiddle - 0.5f) / kCells;
      int below = 0;
      while (below < 15 && low_precision::nf4_threshold(below) < begin) ++below;
      // No quotient is above 1.
      cells[k] = {below < 15 ? low_precision::nf4_threshold(below) : 2.0f, uint32_t(below)};
      values[k] = kNf4Values[k % 16];
    }
  }
  // One threshold per cell, none within a thousandth of its edges.
  constexpr bool is_right() const {
    for (int k = 0; k < kWarpSize; ++k)
      for (int t = 0; t < 15; ++t) {
        const float at = low_precision::nf4_threshold(t) * kCells + kMiddle - float(k) + 0.5f;
        if (at > -0.001f && at < 0.001f) return false;
        if (at > 0 && at < 1 && t != int(cells[k].below)) return false;
      }
    return true;
  }
};
static_assert(Nf4Cells().is_right(), "one threshold per cell");
__device__ constexpr Nf4Cells kNf4Cells;

struct Nf4ByShuffle {
  static constexpr Dtype kElement = Dtype::nf4;
  static constexpr int kUnit = 80;
  Nf4Cells::Cell mine;
  float value;
  __device__ __forceinline__ Nf4ByShuffle()
      : mine(kNf4Cells.cells[threadIdx.x % kWarpSize]),
        value(kNf4Cells.values[threadIdx.x % kWarpSize]) {}

  // All lanes of the warp must be here.
  template <int N>
  __device__ __forceinline__ PackedWord<kElement, N> encoded(const float (&x)[N]) const {
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      // In a sum with 1.5 * 2^23 the lowest bits are the rounded number, and a shuffle reads five.
      const int cell = __float_as_int(fmaf(x[i], Nf4Cells::kCells, 0x1.8p23f + Nf4Cells::kMiddle));
      const float next = __shfl_sync(kAllLanes, mine.next, cell);
      const uint32_t below = __shfl_sync(kAllLanes, mine.below, cell);
      word += below << 4 * i;
      if (x[i] > next) word += 1u << 4 * i;
    }
    return PackedWord<kElement, N>(word);
  }
  template <int N>
  __device__ __forceinline__ void decode(PackedWord<kElement, N> word, float (&x)[N]) const {
#pragma unroll
    for (int i = 0; i < N; ++i)
      x[i] = __shfl_sync(kAllLanes, value, int(uint32_t(word) >> 4 * i), 16);
  }
};

}  // namespace ridge::quantisation
