// From the sums of the lanes that share several rows to one total per row.
#pragma once

#include "device/lanes.cuh"

namespace ridge::gemv {

// Each of Lanes lanes has a part of every sum. Halving what is exchanged at every step, the sums
// are dealt to the lanes: this lane gets those of `kEach` rows from `first` on, if they are its
// own.
template <int Rows, int Lanes>
struct Dealt {
  static constexpr int kEach = Rows > Lanes ? Rows / Lanes : 1;
  int first = 0;
  bool is_mine = true;
};
template <int Lanes, int Rows>
__device__ __forceinline__ Dealt<Rows, Lanes> dealt_sums(float (&sum)[Rows], int lane) {
  Dealt<Rows, Lanes> dealt;
#pragma unroll
  for (int step = Lanes / 2, held = Rows; step > 0; step /= 2) {
    const bool upper = lane & step;
    if (held > 1) {
      held /= 2;
#pragma unroll
      for (int i = 0; i < held; ++i) {
        const float away = upper ? sum[i] : sum[i + held];
        sum[i] = (upper ? sum[i + held] : sum[i]) + __shfl_xor_sync(~0u, away, step);
      }
      dealt.first += upper ? held : 0;
    } else {
      sum[0] += __shfl_xor_sync(~0u, sum[0], step);
      dealt.is_mine &= !upper;
    }
  }
  return dealt;
}

// Warps that the lanes of a row fill.
template <int Lanes>
constexpr int kWarpsOf = Lanes > kWarpSize ? Lanes / kWarpSize : 1;

// Calls put(row, total) once for each of the rows from first_row on. Up to 32 lanes are added by
// shuffles. If the lanes are the whole block, the sums of its warps are added in of_warps, which is
// shared memory.
template <int Lanes, int Rows, class Put>
__device__ __forceinline__ void put_totals(float (&sum)[Rows], int lane, int64_t first_row,
                                           float (&of_warps)[Rows][kWarpsOf<Lanes>], Put put) {
  if constexpr (Lanes <= kWarpSize) {
    const Dealt<Rows, Lanes> dealt = dealt_sums<Lanes>(sum, lane);
#pragma unroll
    for (int i = 0; i < dealt.kEach; ++i)
      if (dealt.is_mine) put(first_row + dealt.first + i, sum[i]);
  } else {
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      sum[r] = lanes_sum(sum[r], kWarpSize);
      if (lane % kWarpSize == 0) of_warps[r][lane / kWarpSize] = sum[r];
    }
    __syncthreads();
    if (lane < Rows) {
      float total = 0;
#pragma unroll
      for (int w = 0; w < kWarpsOf<Lanes>; ++w) total += of_warps[lane][w];
      put(first_row + lane, total);
    }
  }
}

}  // namespace ridge::gemv
