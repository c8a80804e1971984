// The matrices of one block: its product of the batch, and where its tile of d is.
#pragma once

#include <type_traits>

#include "device/convert.cuh"
#include "kernels/gemm/gemm.h"

namespace ridge::gemm {

// Where the tile of this block begins. Tiles are counted along the rows of d.
struct TilePlace {
  int64_t row, col;
};
__device__ __forceinline__ TilePlace tile_place(const Args& args, int tile_rows, int tile_cols) {
  const unsigned per_row = unsigned((args.n + tile_cols - 1) / tile_cols);
  return {int64_t(blockIdx.x / per_row) * tile_rows, int64_t(blockIdx.x % per_row) * tile_cols};
}

// An operand of this block's product.
template <class T>
struct Matrix {
  const T* data;
  int64_t row_step, col_step;
  int64_t rows, cols;

  __device__ __forceinline__ const T* at(int64_t row, int64_t col) const {
    return data + row * row_step + col * col_step;
  }
  __device__ __forceinline__ bool has(int64_t row, int64_t col) const {
    return row < rows && col < cols;
  }
  __device__ __forceinline__ float or_zero(int64_t row, int64_t col) const {
    return has(row, col) ? to_float(*at(row, col)) : 0;
  }
};
template <class T>
__device__ __forceinline__ Matrix<T> matrix(const Matrices& all, int64_t rows, int64_t cols,
                                            int64_t batch = blockIdx.y) {
  return {static_cast<const T*>(all.data) + batch * all.batch_step, all.row_step, all.col_step,
          rows, cols};
}
template <class T>
__device__ __forceinline__ Matrix<T> matrix_a(const Args& args) {
  return matrix<T>(args.a, args.m, args.k);
}
template <class T>
__device__ __forceinline__ Matrix<T> matrix_b(const Args& args) {
  return matrix<T>(args.b, args.k, args.n);
}

// Where results go.
template <class T>
struct Results {
  T* d;
  Matrix<T> c;
  int64_t d_step;
  float alpha, beta;

  __device__ __forceinline__ explicit Results(const Args& args, int64_t batch = blockIdx.y)
      : d(static_cast<T*>(args.d) + batch * args.d_batch_step),
        c(matrix<T>(args.c, args.m, args.n, batch)),
        d_step(args.d_step),
        alpha(args.alpha),
        beta(args.beta) {}

  // From a sum of products to an element of d, if there is such an element.
  __device__ __forceinline__ void put(int64_t row, int64_t col, float sum) const {
    if (!c.has(row, col)) return;
    float result = alpha * sum;
    if (beta != 0) result += beta * to_float(*c.at(row, col));
    d[row * d_step + col] = from_float<T>(result);
  }
};

// Two neighbours of a row, in one store where they are aligned: as one word or as one float2,
// because the compiler sometimes makes two stores of a struct.
template <class Out>
__device__ __forceinline__ void put_two(const Results<Out>& results, int64_t row, int64_t col,
                                        float first, float second) {
  constexpr bool kIsFloat = std::is_same_v<Out, float>;
  using Two = std::conditional_t<kIsFloat, float2, uint32_t>;
  Out* const place = results.d + row * results.d_step + col;
  if (results.beta == 0 && results.c.has(row, col + 1) &&
      reinterpret_cast<uintptr_t>(place) % sizeof(Two) == 0) {
    const float2 scaled = {results.alpha * first, results.alpha * second};
    if constexpr (kIsFloat) {
      *reinterpret_cast<Two*>(place) = scaled;
    } else {
      struct alignas(sizeof(Two)) Both {
        Out at[2];
      };
      const Both both = {from_float<Out>(scaled.x), from_float<Out>(scaled.y)};
      *reinterpret_cast<Two*>(place) = *reinterpret_cast<const Two*>(&both);
    }
    return;
  }
  results.put(row, col, first);
  results.put(row, col + 1, second);
}

// Calls f(In{}, Out{}) with the formats of a and d.
template <class F>
auto with_formats(const Args& args, F f) {
  return with_float_type(
      args.dtype, [&](auto in) { return args.result == Dtype::f32 ? f(in, float()) : f(in, in); });
}

// Most rungs have no epilogues: every one of them would be compiled into each kernel.
inline Support only_plain(const Args& a) {
  return a.epilogue.is_plain() ? kSupported : "this rung has no epilogue but alpha and beta";
}
inline Support f32_with_epilogue(const Args& a) {
  return a.dtype == Dtype::f32 ? kSupported : "multiplies f32 without tensor cores";
}
inline Support only_f32(const Args& a) {
  const Support is_f32 = f32_with_epilogue(a);
  return is_f32 ? only_plain(a) : is_f32;
}

}  // namespace ridge::gemm
