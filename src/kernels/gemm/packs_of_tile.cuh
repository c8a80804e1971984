// Tiles of a and b in packs of 16 bytes, and results in packs.
#pragma once

#include "device/from_detail.cuh"
#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm {

// A slab of an operand: `xs` rows of a, or columns of b, by `ks` levels of depth. Seen this way, a
// and b are the same.
struct Slab {
  const float* data;
  int64_t x_step, k_step;
  int64_t xs, ks;

  __device__ __forceinline__ const float* at(int64_t x, int64_t k) const {
    return data + x * x_step + k * k_step;
  }
  __device__ __forceinline__ float or_zero(int64_t x, int64_t k) const {
    return x < xs && k < ks ? *at(x, k) : 0;
  }
  __device__ __forceinline__ bool is_along_x() const { return x_step == 1; }
};
__device__ __forceinline__ Slab slab_of_a(const Args& args, int64_t row) {
  const auto a = matrix_a<float>(args);
  return {a.at(row, 0), a.row_step, a.col_step, args.m - row, args.k};
}
__device__ __forceinline__ Slab slab_of_b(const Args& args, int64_t col) {
  const auto b = matrix_b<float>(args);
  return {b.at(0, col), b.col_step, b.row_step, args.n - col, args.k};
}

// Four elements along x or along k. Where the pack is not whole, or not at a multiple of 16 bytes,
// it is read element by element.
__device__ __forceinline__ Pack<float> pack_along_x(const Slab& from, int64_t x, int64_t k) {
  const float* const first = from.at(x, k);
  if (from.x_step == 1 && k < from.ks && x + 3 < from.xs && is_pack_aligned(first))
    return load_pack(first);
  return {from.or_zero(x, k), from.or_zero(x + 1, k), from.or_zero(x + 2, k),
          from.or_zero(x + 3, k)};
}
__device__ __forceinline__ Pack<float> pack_along_k(const Slab& from, int64_t x, int64_t k) {
  const float* const first = from.at(x, k);
  if (from.k_step == 1 && x < from.xs && k + 3 < from.ks && is_pack_aligned(first))
    return load_pack(first);
  return {from.or_zero(x, k), from.or_zero(x, k + 1), from.or_zero(x, k + 2),
          from.or_zero(x, k + 3)};
}

// Brings the levels k … k + kDepth - 1 of a slab to shared memory, with x fastest: level i begins
// at to + i * kPitch.
template <int kWidth, int kDepth, int kPitch, int kThreads>
__device__ __forceinline__ void load_slab(const Slab& from, int64_t k, float* to) {
  static_assert(kWidth * kDepth / 4 % kThreads == 0);
#pragma unroll
  for (int pass = 0; pass < kWidth * kDepth / 4 / kThreads; ++pass) {
    const int i = pass * kThreads + int(threadIdx.x);
    if (from.is_along_x()) {
      const int x = i % (kWidth / 4) * 4, level = i / (kWidth / 4);
      *reinterpret_cast<Pack<float>*>(to + level * kPitch + x) = pack_along_x(from, x, k + level);
    } else {
      const int x = i / (kDepth / 4), level = i % (kDepth / 4) * 4;
      const Pack<float> pack = pack_along_k(from, x, k + level);
#pragma unroll
      for (int j = 0; j < 4; ++j) to[(level + j) * kPitch + x] = pack[j];
    }
  }
}

// Four neighbours of a row of d.
__device__ __forceinline__ void put_pack(const Results<float>& results, int64_t row, int64_t col,
                                         const float (&sums)[4]) {
  float* const first = results.d + row * results.d_step + col;
  if (results.beta == 0 && results.c.has(row, col + 3) && is_pack_aligned(first)) {
    Pack<float> pack;
#pragma unroll
    for (int j = 0; j < 4; ++j) pack[j] = results.alpha * sums[j];
    store_pack(first, pack);
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) results.put(row, col + j, sums[j]);
}

}  // namespace ridge::gemm
