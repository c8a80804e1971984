// A tile of a matrix, read element by element.
#pragma once

#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm {

// Calls put(row, col, value) for every element of the tile at (row, col) of a matrix; what lies
// outside of the matrix is 0. Neighbouring threads take neighbours in memory, along the dimension
// that is contiguous.
template <int kRows, int kCols, int kThreads, class Put>
__device__ __forceinline__ void elements_of_tile(const Matrix<float>& from, int64_t row,
                                                 int64_t col, Put put) {
  static_assert(kRows * kCols % kThreads == 0);
  const bool along_rows = from.col_step == 1;
#pragma unroll
  for (int pass = 0; pass < kRows * kCols / kThreads; ++pass) {
    const int i = pass * kThreads + int(threadIdx.x);
    const int r = along_rows ? i / kCols : i % kRows;
    const int c = along_rows ? i % kCols : i / kRows;
    put(r, c, from.or_zero(row + r, col + c));
  }
}

}  // namespace ridge::gemm
