// The results of epilogues on their way to d through shared memory, which rung 30 introduces.
#pragma once

#include "kernels/gemm/asked_fragments.cuh"
#include "kernels/gemm/stored_by_tma.cuh"

namespace ridge::gemm::hopper {

// A lane finishes this many sums at a time: 64 columns of the product. They are one piece of 128
// bytes, or two pieces of f32. Where pairs are made, 32 columns are left, and pieces of 16 bits
// have 64 bytes.
constexpr int kChunk = 32, kChunkCols = 2 * kChunk;

inline int asked_piece_bytes(const Args& a) {
  return a.epilogue.swiglu && a.result != Dtype::f32 ? 64 : 128;
}
inline Expected<CUtensorMap> map_of_asked_results(const Args& args) {
  return asked_piece_bytes(args) == 64 ? map_of_results<64>(args) : map_of_results<128>(args);
}

// Writes this warp's 16 rows of a piece of 32 results of pairs. A lane has one of four neighbouring
// columns, so it writes single elements; lanes that share a bank share a word.
template <class Out>
__device__ __forceinline__ void write_pairs(char* buffer, const float (&values)[kChunk]) {
  constexpr int kPieceBytes = kChunkCols / 2 * int(sizeof(Out));
  constexpr layouts::Swizzle kSwizzle =
      kPieceBytes == 128 ? layouts::kSwizzle128 : layouts::kSwizzle64;
  const int warp = int(threadIdx.x) % kWarpgroup / 32, lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < kChunk; i += 2) {
    const int row = 16 * warp + lane / 4 + i / 2 % 2 * 8, col = i / 4 * 4 + lane % 4;
    *reinterpret_cast<Out*>(buffer + kSwizzle(row * kPieceBytes + col * int(sizeof(Out)))) =
        from_float<Out>(values[i]);
  }
}

template <class Out>
__device__ __forceinline__ void store_chunk(StoreByTma<128, kRows>& store, const Args& args,
                                            const CUtensorMap* map, const TileAt& at,
                                            const float (&values)[kChunk]) {
  constexpr int kPieceCols = 128 / int(sizeof(Out));
  if (args.epilogue.swiglu) {
    store.store(map, {at.row, at.col / 2, at.batch},
                [&](char* to) { write_pairs<Out>(to, values); });
    return;
  }
#pragma unroll
  for (int col = 0; col < kChunkCols; col += kPieceCols)
    store.store(map, {at.row, at.col + col, at.batch},
                [&](char* to) { write_piece<Out, 128>(to, col, values); });
}

// All sums of a warpgroup: kParts times 64 rows.
template <class T, int kParts, int kSums>
__device__ __forceinline__ void store_asked(StoreByTma<128, kRows>& store, const Args& args,
                                            const CUtensorMap* map, const TileAt& tile,
                                            const float (&sums)[kParts][kSums]) {
  constexpr int kPerPart = kSums / kChunk;
  static_assert(kPerPart * kChunk == kSums);
  const bool is_wide = args.result == Dtype::f32;
  const int warp = int(threadIdx.x) % kWarpgroup / 32;
#pragma unroll 1
  for (int i = 0; i < kParts * kPerPart; ++i) {
    const TileAt at = {tile.row + i / kPerPart * kRows, tile.col + i % kPerPart * kChunkCols,
                       tile.batch};
    if (at.row >= args.m || at.col >= args.n) continue;  // outside of d as a whole
    float values[kChunk];
    with_constant<kParts * kPerPart>(i, [&](auto constant) {
      constexpr int kIndex = decltype(constant)::value;
#pragma unroll
      for (int j = 0; j < kChunk; ++j)
        values[j] = sums[kIndex / kPerPart][kIndex % kPerPart * kChunk + j];
    });
    finish<T>(args, at.batch, is_wide, LanePlaces<kChunk>(args, at.row + 16 * warp, at.col),
              values);
    if (is_wide) store_chunk<float>(store, args, map, at, values);
    else store_chunk<T>(store, args, map, at, values);
  }
}

}  // namespace ridge::gemm::hopper
