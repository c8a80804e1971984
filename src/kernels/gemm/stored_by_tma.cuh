// Sums on their way to d through shared memory, which rung 24 introduces: a warpgroup writes pieces
// of 64 rows by 128 bytes, swizzled, and the copy engine stores them. Two buffers take turns, so
// that one is written while the other one is stored.
#pragma once

#include "kernels/gemm/hopper.cuh"

namespace ridge::gemm::hopper {

constexpr int kPieceBytes = 128;  // of a row

struct Pieces {
  alignas(kAlignment) char buffer[2][kRows * kPieceBytes];
};

inline Support supports_stores(const Args& a) {
  return is_copied_by_tma(a.d, a.d_step, a.m, a.d_batch_step, a.batch, a.result)
             ? kSupported
             : "d must begin and have rows at multiples of 16 bytes for the copy engine";
}

inline Expected<CUtensorMap> map_of_results(const Args& args) {
  const auto bytes = int64_t(size_of(args.result));
  const int64_t pitch = args.m > 1 ? args.d_step * bytes : (args.n * bytes + 15) / 16 * 16;
  return make_tensor_map(
      {.base = args.d,
       .element_bytes = int(bytes),
       .size = {uint64_t(args.n), uint64_t(args.m), uint64_t(args.batch)},
       .pitch = {uint64_t(pitch), uint64_t(args.batch > 1 ? args.d_batch_step * bytes : pitch)},
       .box = {uint32_t(kPieceBytes / bytes), uint32_t(kRows), 1}});
}

// Writes this warp's 16 rows of a piece: columns `first` … of the sums.
template <class Out>
__device__ __forceinline__ void write_piece(char* buffer, int first, const float (&sums)[128]) {
  constexpr layouts::Swizzle kSwizzle = layouts::kSwizzle128;
  const int warp = int(threadIdx.x) % kWarpgroup / 32, lane = int(threadIdx.x) % 32;
  if constexpr (sizeof(Out) == 2) {
    // Two columns of 8 x 8 matrices at a time; lane l has a row of matrix l / 8.
    const int row = 16 * warp + lane % 16;
#pragma unroll
    for (int pair = 0; pair < kPieceBytes / 32; ++pair) {
      uint32_t values[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        struct Two {
          Out at[2];
        };
        const int s = first / 8 * 4 + 8 * pair + 2 * i;
        const Two two = {from_float<Out>(sums[s]), from_float<Out>(sums[s + 1])};
        values[i] = *reinterpret_cast<const uint32_t*>(&two);
      }
      ptx::stmatrix_x4(buffer + kSwizzle(row * kPieceBytes + 32 * pair + lane / 16 * 16), values);
    }
  } else {
    const int row = 16 * warp + lane / 4;
#pragma unroll
    for (int j = 0; j < kPieceBytes / 32; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int s = first / 8 * 4 + 4 * j + 2 * half;
        const int64_t place = (row + 8 * half) * kPieceBytes + 32 * j + lane % 4 * 8;
        *reinterpret_cast<float2*>(buffer + kSwizzle(place)) = {sums[s], sums[s + 1]};
      }
  }
}

// alpha and beta, applied to the sums of a lane where they are.
template <class Out>
__device__ __forceinline__ void scale(const Args& args, const TileAt& tile, float (&sums)[128]) {
  if (args.alpha != 1) {
#pragma unroll
    for (float& sum : sums) sum *= args.alpha;
  }
  if (args.beta == 0) return;
  const auto c = matrix<Out>(args.c, args.m, args.n, tile.batch);
  const int warp = int(threadIdx.x) % kWarpgroup / 32, lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int s = 0; s < 128; ++s) {
    const int64_t row = tile.row + 16 * warp + lane / 4 + s / 2 % 2 * 8;
    const int64_t col = tile.col + s / 4 * 8 + lane % 4 * 2 + s % 2;
    if (c.has(row, col)) sums[s] += args.beta * to_float(*c.at(row, col));
  }
}

// All sums of a warpgroup. `barrier` is its own named barrier.
template <class Out>
__device__ __forceinline__ void store_sums_as(const Args& args, const CUtensorMap* map,
                                              Pieces& pieces, int barrier, const TileAt& tile,
                                              float (&sums)[128]) {
  constexpr int kPieceCols = kPieceBytes / int(sizeof(Out));
  const bool is_first = threadIdx.x % kWarpgroup == 0;
  scale<Out>(args, tile, sums);
#pragma unroll
  for (int col = 0; col < kCols; col += kPieceCols) {
    char* const buffer = pieces.buffer[col / kPieceCols % 2];
    if (is_first) ptx::bulk_wait_read<1>();  // the store before the last has read this buffer
    ptx::named_barrier(barrier, kWarpgroup);
    write_piece<Out>(buffer, col, sums);
    ptx::fence_before_bulk_store();
    ptx::named_barrier(barrier, kWarpgroup);
    if (is_first) {
      ptx::tma_store(map, buffer, tile.col + col, tile.row, tile.batch);
      ptx::bulk_commit();
    }
  }
}
template <class T>
__device__ __forceinline__ void store_sums(const Args& args, const CUtensorMap* map, Pieces& pieces,
                                           int barrier, const TileAt& tile, float (&sums)[128]) {
  if (args.result == Dtype::f32) store_sums_as<float>(args, map, pieces, barrier, tile, sums);
  else store_sums_as<T>(args, map, pieces, barrier, tile, sums);
}

}  // namespace ridge::gemm::hopper
