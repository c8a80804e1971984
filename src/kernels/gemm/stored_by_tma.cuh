// Sums on their way to d through shared memory, which rung 24 introduces: a warpgroup writes pieces
// of 64 rows by 128 bytes (or 64 or 32, where tiles have no whole number of the former), swizzled,
// and the copy engine stores them. Two buffers take turns, so that one is written while the other
// one is stored.
#pragma once

#include "kernels/gemm/hopper.cuh"

namespace ridge::gemm::hopper {

// A piece may be of several boxes, side by side in d, which the copy engine takes one after the
// other.
template <int kPieceBytes, int kPieceRows = kRows, int kBoxes = 1>
struct Pieces {
  alignas(kAlignment) char buffer[2][kBoxes * kPieceRows * kPieceBytes];
};

inline Support reaches_results(const Args& a) {
  if (!is_copied_by_tma(a.d, a.d_step, a.m, a.d_batch_step, a.batch, a.result))
    return "d must begin and have rows at multiples of 16 bytes for the copy engine";
  // It would change what lies behind the last column, up to the next multiple of 16 bytes.
  return is_multiple_of_16(columns_of_d(a) * int64_t(size_of(a.result)))
             ? kSupported
             : "the copy engine stores rows of whole 16 bytes";
}
// What `put` below can do: c is part of an epilogue.
inline Support supports_stores(const Args& a) {
  return a.beta == 0 ? reaches_results(a) : "adds no c, as rung 30 does";
}

template <int kPieceBytes, int kPieceRows = kRows>
Expected<CUtensorMap> map_of_results(const Args& args) {
  const auto bytes = int64_t(size_of(args.result));
  const int64_t pitch = (args.m > 1 ? args.d_step : columns_of_d(args)) * bytes;
  return make_tensor_map(
      {.base = args.d,
       .element_bytes = int(bytes),
       .size = {uint64_t(columns_of_d(args)), uint64_t(args.m), uint64_t(args.batch)},
       .pitch = {uint64_t(pitch), uint64_t(args.batch > 1 ? args.d_batch_step * bytes : pitch)},
       .box = {uint32_t(kPieceBytes / bytes), uint32_t(kPieceRows), 1}});
}

// Writes this warp's 16 rows of a piece: columns `first` … of the sums.
template <class Out, int kPieceBytes, int kSums>
__device__ __forceinline__ void write_piece(char* buffer, int first, const float (&sums)[kSums]) {
  constexpr layouts::Swizzle kSwizzle = kPieceBytes == 128  ? layouts::kSwizzle128
                                        : kPieceBytes == 64 ? layouts::kSwizzle64
                                                            : layouts::kSwizzle32;
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

// The same if the product was made transposed: a piece has kRowsOfPiece rows of d, which are
// columns `first` … of the sums, by 64 columns of d. In f32, these are two boxes.
constexpr int kRowsOfPiece = 16;
template <class Out, int kSums>
__device__ __forceinline__ void write_turned_piece(char* buffer, int first,
                                                   const float (&sums)[kSums]) {
  constexpr layouts::Swizzle kSwizzle = layouts::kSwizzle128;
  const int warp = int(threadIdx.x) % kWarpgroup / 32, lane = int(threadIdx.x) % 32;
  if constexpr (sizeof(Out) == 4) {
    char* const box = buffer + warp / 2 * kRowsOfPiece * 128;
#pragma unroll
    for (int i = 0; i < kRowsOfPiece / 2; ++i) {  // a lane has columns 2 (l % 4) + i % 2
      const int row = i / 4 * 8 + lane % 4 * 2 + i % 2;                  // of d
      const int col = 16 * warp % 32 + lane / 4 + i / 2 % 2 * 8;  // in its box
      *reinterpret_cast<float*>(box + kSwizzle(row * 128 + col * 4)) = sums[first / 8 * 4 + i];
    }
  } else {
    struct Two {
      Out at[2];
    };
    uint32_t values[4];  // 8 columns of 8 and 8 rows, then the next 8 columns
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int s = first / 8 * 4 + 2 * i;
      const Two two = {from_float<Out>(sums[s]), from_float<Out>(sums[s + 1])};
      values[i] = *reinterpret_cast<const uint32_t*>(&two);
    }
    const int row = lane % 8 + lane / 16 * 8, col = 16 * warp + lane / 8 % 2 * 8;  // of d
    ptx::stmatrix_x4<true>(buffer + kSwizzle(row * 128 + col * 2), values);
  }
}

// Stores the sums of one warpgroup, tile after tile.
template <int kPieceBytes, int kPieceRows, int kBoxes = 1>
class StoreByTma {
 public:
  // `barrier` is the warpgroup's own named barrier.
  __device__ __forceinline__ StoreByTma(Pieces<kPieceBytes, kPieceRows, kBoxes>& pieces,
                                        int barrier)
      : pieces_(pieces), barrier_(barrier) {}

  template <class T, int kSums>
  __device__ __forceinline__ void put(const Args& args, const CUtensorMap* map, const TileAt& tile,
                                      float (&sums)[kSums]) {
    if (__builtin_expect(args.result == Dtype::f32, false)) put_as<float>(args, map, tile, sums);
    else put_as<T>(args, map, tile, sums);
  }
  // The sums of a product that was made transposed. `tile` is a place in that product.
  template <class T, int kSums>
  __device__ __forceinline__ void put_turned(const Args& args, const CUtensorMap* map,
                                             const TileAt& tile, float (&sums)[kSums]) {
    static_assert(kPieceBytes == 128 && kPieceRows == kRowsOfPiece && 2 * kSums % kPieceRows == 0);
    static_assert(kBoxes * kPieceBytes == kRows * int(sizeof(T)));
#pragma unroll
    for (float& sum : sums) sum *= args.alpha;
#pragma unroll
    for (int col = 0; col < 2 * kSums; col += kRowsOfPiece)
      store(map, {tile.col + col, tile.row, tile.batch},
            [&](char* buffer) { write_turned_piece<T>(buffer, col, sums); });
  }
  // One piece, which begins at `place` of d.
  template <class Write>
  __device__ __forceinline__ void store(const CUtensorMap* map, const TileAt& place, Write write) {
    const bool is_first = threadIdx.x % kWarpgroup == 0;
    char* const buffer = pieces_.buffer[turn_];
    if (is_first) ptx::bulk_wait_read<1>();  // the store before the last has read this buffer
    ptx::named_barrier(barrier_, kWarpgroup);
    write(buffer);
    ptx::fence_before_bulk_store();
    ptx::named_barrier(barrier_, kWarpgroup);
    if (is_first) {
#pragma unroll
      for (int i = 0; i < kBoxes; ++i)
        ptx::tma_store(map, buffer + i * kPieceRows * kPieceBytes,
                       place.col + i * kPieceBytes / int(sizeof(float)), place.row, place.batch);
      ptx::bulk_commit();
    }
    turn_ ^= 1;
  }
  // Shared memory must not go before the stores have read it.
  __device__ __forceinline__ void end() const { ptx::bulk_wait_read<0>(); }

 private:
  template <class Out, int kSums>
  __device__ __forceinline__ void put_as(const Args& args, const CUtensorMap* map,
                                         const TileAt& tile, float (&sums)[kSums]) {
    constexpr int kPieceCols = kPieceBytes / int(sizeof(Out));
    static_assert(2 * kSums % kPieceCols == 0);
#pragma unroll
    for (float& sum : sums) sum *= args.alpha;
#pragma unroll
    for (int col = 0; col < 2 * kSums; col += kPieceCols)
      store(map, {tile.row, tile.col + col, tile.batch},
            [&](char* buffer) { write_piece<Out, kPieceBytes>(buffer, col, sums); });
  }

  Pieces<kPieceBytes, kPieceRows, kBoxes>& pieces_;
  int barrier_;
  int turn_ = 0;  // which buffer is next
};

}  // namespace ridge::gemm::hopper
