// What the wmma rungs share: fragments of 16 by 16 by 16, and how their sums become results.
#pragma once

#include <mma.h>

#include <type_traits>

#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm::by_wmma {

namespace wmma = nvcuda::wmma;
constexpr int kEdge = 16;  // of a fragment

using T = __nv_bfloat16;  // lessons are compiled for one format

// kTurned: the rows of a, or the columns of b, are contiguous.
template <bool kTurned>
using FragmentA = wmma::fragment<wmma::matrix_a, kEdge, kEdge, kEdge, T,
                                 std::conditional_t<kTurned, wmma::col_major, wmma::row_major>>;
template <bool kTurned>
using FragmentB = wmma::fragment<wmma::matrix_b, kEdge, kEdge, kEdge, T,
                                 std::conditional_t<kTurned, wmma::row_major, wmma::col_major>>;
using Sums = wmma::fragment<wmma::accumulator, kEdge, kEdge, kEdge, float>;

// Where a warp turns a fragment into rows: which lane has which element of it is nobody's business.
struct Staging {
  static constexpr int kPitch = kEdge + 4;
  alignas(128) float at[kEdge * kPitch];
};

template <class Out>
__device__ __forceinline__ void put_staged(const Args& args, const Staging& staging, int64_t row,
                                           int64_t col) {
  const Results<Out> results(args);
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int pass = 0; pass < 4; ++pass) {
    const int r = pass * 4 + lane / 8, c = lane % 8 * 2;
    put_two(results, row + r, col + c, staging.at[r * Staging::kPitch + c],
            staging.at[r * Staging::kPitch + c + 1]);
  }
}
// By whole warps, each with a staging area of its own.
__device__ __forceinline__ void put(const Args& args, Staging& staging, int64_t row, int64_t col,
                                    const Sums& sums) {
  wmma::store_matrix_sync(staging.at, sums, Staging::kPitch, wmma::mem_row_major);
  __syncwarp();
  if (args.result == Dtype::f32) put_staged<float>(args, staging, row, col);
  else put_staged<T>(args, staging, row, col);
  __syncwarp();
}

// Calls f(is a turned, is b turned) as constants.
template <class F>
auto with_turns(const Args& args, F f) {
  const bool a = args.a.col_step != 1, b = args.b.row_step != 1;
  using Yes = std::true_type;
  using No = std::false_type;
  if (a) return b ? f(Yes(), Yes()) : f(Yes(), No());
  return b ? f(No(), Yes()) : f(No(), No());
}

}  // namespace ridge::gemm::by_wmma
