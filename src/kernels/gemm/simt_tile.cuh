// Tiles of any shape in f32: what `autotuned`, `split_sums` and `small_tiles` share.
//
// The lanes of a warp lie 8 down and 4 across. A lane makes up to 8 by 16 results, in groups of 4
// by 4. It holds the factors of two levels: while one level is multiplied, the next one is loaded.
//
// The loops over levels are rolled on purpose, two levels per pass. A multiply-add reads three
// registers, and each of the two register banks gives one per clock. So one of the three must be
// kept from the multiply-add before, and the other two must be in different banks. The order of
// `multiply` makes that possible. In a short loop ptxas keeps this order; in a long one it does
// not.
#pragma once

#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/packs_of_tile.cuh"

namespace ridge::gemm::simt {

// The shape of a tile, of its warps, and of its steps.
template <int Rows, int Cols, int Depth, int WarpRows, int WarpCols, int BlocksPerSm>
struct Shape {
  static constexpr int kRows = Rows, kCols = Cols, kDepth = Depth;
  static constexpr int kWarpRows = WarpRows, kWarpCols = WarpCols;
  static constexpr int kBlocksPerSm = BlocksPerSm;
  static constexpr int kThreads = Rows / WarpRows * (Cols / WarpCols) * 32;
  static constexpr int kLanesDown = 8, kLanesAcross = 4;
  static constexpr int kHeight = WarpRows / kLanesDown,
                       kWidth = WarpCols / kLanesAcross;  // of a lane
  static_assert(kHeight % 4 == 0 && kWidth % 4 == 0 && Depth % 2 == 0);
};

// How tiles become blocks. Tiles are counted along the rows of d, then down, then over the batch.
// The first `whole` tiles are one block each. The sums of the others are cut into `parts` blocks of
// `part_steps` steps, which leave their partial sums in the workspace.
struct Division {
  int64_t whole = 0;
  int parts = 1;
  int64_t part_steps = 0;
  int down = 0, across = 0;  // tiles of one product
  float one = 1;
};

struct Unit {
  int64_t row, col, batch;
  int64_t first_k, end_k;
  int64_t piece;  // which partial sum; -1: all of the sum
};
template <class S>
__device__ __forceinline__ Unit unit_of(const Args& args, const Division& division) {
  const int64_t block = blockIdx.x;
  Unit unit = {.first_k = 0, .end_k = args.k, .piece = -1};
  int64_t tile = block;
  if (block >= division.whole) {
    unit.piece = block - division.whole;
    tile = division.whole + unit.piece / division.parts;
    unit.first_k = unit.piece % division.parts * division.part_steps * S::kDepth;
    unit.end_k = min(args.k, unit.first_k + division.part_steps * S::kDepth);
  }
  const int per_product = division.down * division.across;
  unit.batch = tile / per_product;
  const int of_product = int(tile % per_product);
  unit.row = int64_t(of_product / division.across) * S::kRows;
  unit.col = int64_t(of_product % division.across) * S::kCols;
  return unit;
}

// The factors of one level, as a lane needs them.
template <class S>
struct Factors {
  Pack<float> x[S::kHeight / 4], y[S::kWidth / 4];

  __device__ __forceinline__ void load(const float* a, const float* b) {
#pragma unroll
    for (int g = 0; g < S::kHeight / 4; ++g) x[g] = load_pack(a + g * 4 * S::kLanesDown);
#pragma unroll
    for (int g = 0; g < S::kWidth / 4; ++g) y[g] = load_pack(b + g * 4 * S::kLanesAcross);
  }
  // After a loop whose last loads nobody needs: or the compiler would move all loads of the loop
  // behind the branch at its end, away from the multiply-adds that hide them.
  __device__ __forceinline__ void keep() const {
#pragma unroll
    for (int g = 0; g < S::kHeight / 4; ++g) asm volatile("" ::"f"(x[g][0]));
#pragma unroll
    for (int g = 0; g < S::kWidth / 4; ++g) asm volatile("" ::"f"(y[g][0]));
  }
};

template <class S>
struct Sums {
  float at[S::kHeight][S::kWidth] = {};

  // Along a row, then back along the next one: of two neighbours in this order, one factor is the
  // same.
  __device__ __forceinline__ void multiply(const Factors<S>& f) {
    constexpr int kAll = S::kHeight * S::kWidth;
#pragma unroll
    for (int i = 0; i < kAll; ++i) {
      const int r = i / S::kWidth, along = i % S::kWidth;
      const int c = r % 2 == 0 ? along : S::kWidth - 1 - along;
      at[r][c] = fmaf(f.x[r / 4][r % 4], f.y[c / 4][c % 4], at[r][c]);
    }
  }

  // Calls f(row, col, four sums) for every group of four, with places in the warp's tile.
  template <class F>
  __device__ __forceinline__ void each_pack(F f) const {
    const int lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int r = 0; r < S::kHeight; ++r)
#pragma unroll
      for (int c = 0; c < S::kWidth; c += 4) {
        const float four[4] = {at[r][c], at[r][c + 1], at[r][c + 2], at[r][c + 3]};
        f((r / 4 * S::kLanesDown + lane % S::kLanesDown) * 4 + r % 4,
          (c / 4 * S::kLanesAcross + lane / S::kLanesDown) * 4, four);
      }
  }
};

__device__ __forceinline__ Pack<float> times(const float (&four)[4], float factor) {
  return {four[0] * factor, four[1] * factor, four[2] * factor, four[3] * factor};
}

// The sums of a unit: results, or a piece of the workspace. Results that are not whole aligned
// packs of alpha times a sum pass through shared memory, 8 rows of a warp at a time: short code,
// and neighbours store neighbours.
template <class S>
__device__ __forceinline__ void put_unit(const Args& args, const Division& division,
                                         const Unit& unit, const Sums<S>& sums, float* shared) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  constexpr int kWarpsAcross = S::kCols / S::kWarpCols;
  const int row = warp / kWarpsAcross * S::kWarpRows, col = warp % kWarpsAcross * S::kWarpCols;
  // Whatever stores them, sums are multiplied first, even if only by 1, of which the compiler must
  // not know. Stored as they are, four sums would have to be in four neighbouring registers, as
  // their factors are, and so in the same banks as these.
  const auto put_packs = [&](float* to, int64_t step, float factor) {
    sums.each_pack([&](int r, int c, const float(&four)[4]) {
      store_pack(to + r * step + c, times(four, factor));
    });
  };
  if (unit.piece >= 0) {
    put_packs(static_cast<float*>(args.workspace) + unit.piece * S::kRows * S::kCols +
                  row * S::kCols + col,
              S::kCols, division.one);
    return;
  }
  const Results<float> results(args, unit.batch);
  float* const first = results.d + (unit.row + row) * results.d_step + unit.col + col;
  if (results.beta == 0 && unit.row + S::kRows <= args.m && unit.col + S::kCols <= args.n &&
      is_pack_aligned(first) && results.d_step % 4 == 0) {
    put_packs(first, results.d_step, results.alpha);
    return;
  }
  __syncthreads();  // all warps have read their factors
  constexpr int kPitch = S::kWarpCols + 4;
  float* const part = shared + warp * S::kLanesDown * kPitch;
#pragma unroll
  for (int r = 0; r < S::kHeight; ++r) {
#pragma unroll
    for (int c = 0; c < S::kWidth; c += 4) {
      const float four[4] = {sums.at[r][c], sums.at[r][c + 1], sums.at[r][c + 2],
                             sums.at[r][c + 3]};
      float* const to = part + lane % S::kLanesDown * kPitch +
                        (c / 4 * S::kLanesAcross + lane / S::kLanesDown) * 4;
      *reinterpret_cast<Pack<float>*>(to) = times(four, division.one);
    }
    __syncwarp();
#pragma unroll 1
    for (int i = lane; i < S::kLanesDown * S::kWarpCols; i += 32) {
      const int down = i / S::kWarpCols, along = i % S::kWarpCols;
      results.put(unit.row + row + (r / 4 * S::kLanesDown + down) * 4 + r % 4,
                  unit.col + col + along, part[down * kPitch + along]);
    }
    __syncwarp();
  }
}

// Adds the partial sums of the tiles that were cut, always in the order of k.
constexpr int kAddThreads = 256, kAddBlocks = 4;  // blocks per tile
template <class S>
__global__ void __launch_bounds__(kAddThreads)
    gemm_simt_add(const __grid_constant__ Args args, const __grid_constant__ Division division) {
  const int64_t cut = blockIdx.x / kAddBlocks, tile = division.whole + cut;
  const int per_product = division.down * division.across;
  const int of_product = int(tile % per_product);
  const int64_t row = int64_t(of_product / division.across) * S::kRows;
  const int64_t col = int64_t(of_product % division.across) * S::kCols;
  const Results<float> results(args, tile / per_product);
  constexpr int kPacks = S::kRows * S::kCols / 4;
  const float* const pieces =
      static_cast<const float*>(args.workspace) + cut * division.parts * S::kRows * S::kCols;
  for (int i = int(blockIdx.x) % kAddBlocks * kAddThreads + int(threadIdx.x); i < kPacks;
       i += kAddBlocks * kAddThreads) {
    const int r = i / (S::kCols / 4), c = i % (S::kCols / 4) * 4;
    if (!results.c.has(row + r, col + c)) continue;
    float sums[4] = {};
#pragma unroll 4
    for (int part = 0; part < division.parts; ++part) {
      const Pack<float> piece = load_pack(pieces + int64_t(part) * S::kRows * S::kCols + i * 4);
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[j] += piece[j];
    }
    put_pack(results, row + r, col + c, sums);
  }
}

// --- Launches ---

// Cuts the sums of all tiles from `whole` on into `parts`.
template <class S>
Division division_of(const Args& args, int64_t whole, int parts) {
  Division division = {.down = int(tiles_of(args.m, S::kRows)),
                       .across = int(tiles_of(args.n, S::kCols))};
  const int64_t tiles = args.batch * division.down * division.across;
  const int64_t steps = tiles_of(args.k, S::kDepth);
  division.whole = parts > 1 && steps > 1 ? whole : tiles;
  if (division.whole == tiles) return division;
  division.part_steps = tiles_of(steps, parts);
  division.parts = int(tiles_of(steps, division.part_steps));  // none is empty
  return division;
}
inline int64_t pieces_of(const Args& args, const Division& division) {
  const int64_t tiles = args.batch * division.down * division.across;
  return (tiles - division.whole) * division.parts;
}
// Bytes of the partial sums.
template <class S>
size_t workspace_of(const Args& args, const Division& division) {
  return size_t(pieces_of(args, division)) * S::kRows * S::kCols * sizeof(float);
}

// A grid has fewer than 2^31 blocks.
template <class S>
Support has_grid(const Args& args) {
  const double tiles =
      double(args.batch) * double(tiles_of(args.m, S::kRows)) * double(tiles_of(args.n, S::kCols));
  return tiles < double(1u << 31) ? kSupported : "has 2^31 tiles or more";
}
inline unsigned blocks_of(const Args& args, const Division& division) {
  return unsigned(division.whole + pieces_of(args, division));
}
template <class S>
Status launch_add(const Args& args, const Division& division, cudaStream_t stream) {
  const int64_t cut = pieces_of(args, division) / division.parts;
  if (cut == 0) return Status::ok();
  gemm_simt_add<S><<<unsigned(cut * kAddBlocks), kAddThreads, 0, stream>>>(args, division);
  return launch_status();
}

}  // namespace ridge::gemm::simt
