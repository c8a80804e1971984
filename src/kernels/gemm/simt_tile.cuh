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
// The first `whole` tiles are one block each. The steps of all others, tile after tile, are dealt
// evenly to `workers` blocks, each of which gets at most as many as a tile has. So a share lies in
// one tile or two, and what it makes of a tile, a piece, is a partial sum in the workspace.
struct Division {
  int64_t whole = 0;
  int64_t cut = 0;  // tiles that are dealt
  int workers = 0;
  int steps = 0;             // of a tile
  int down = 0, across = 0;  // tiles of one product
  float one = 1;

  __host__ __device__ constexpr int64_t dealt() const { return cut * steps; }
  // Where a worker's share begins among the steps that are dealt, and whose share a step is in.
  __host__ __device__ constexpr int64_t first_step(int64_t worker) const {
    return worker * dealt() / workers;
  }
  __host__ __device__ constexpr int64_t worker_of(int64_t step) const {
    return ((step + 1) * workers - 1) / dealt();
  }
  // Each share lies in one tile.
  __host__ __device__ constexpr bool is_even() const { return workers % cut == 0; }
  __host__ __device__ constexpr int64_t longest_share() const {
    return (dealt() + workers - 1) / workers;
  }
  // From piece to piece, either the worker or the tile is the next one.
  __host__ __device__ constexpr int64_t place_of(int64_t worker, int64_t cut_tile) const {
    return worker + cut_tile;
  }
  __host__ __device__ constexpr int64_t pieces() const { return workers + cut; }  // at most
};

struct Unit {
  int64_t row, col, batch;
  int64_t first_k, end_k;
  int64_t piece;  // its place in the workspace; -1: all of a sum
};
template <class S>
__device__ __forceinline__ Unit unit_of_tile(const Args& args, const Division& division,
                                             int64_t tile) {
  const int per_product = division.down * division.across;
  const int of_product = int(tile % per_product);
  return {.row = int64_t(of_product / division.across) * S::kRows,
          .col = int64_t(of_product % division.across) * S::kCols,
          .batch = tile / per_product,
          .first_k = 0,
          .end_k = args.k,
          .piece = -1};
}
// What a worker makes of the tile in which step `at` of its share lies, up to step `end`. `at`
// becomes the step after it.
template <class S>
__device__ __forceinline__ Unit next_piece(const Args& args, const Division& division,
                                           int64_t worker, int64_t& at, int64_t end) {
  const int64_t cut = at / division.steps, first = cut * division.steps;
  const int64_t behind = min(end, first + division.steps);
  Unit unit = unit_of_tile<S>(args, division, division.whole + cut);
  unit.first_k = (at - first) * S::kDepth;
  unit.end_k = min(args.k, (behind - first) * S::kDepth);
  unit.piece = division.place_of(worker, cut);
  at = behind;
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

// Adds the partial sums of the tiles that were dealt, always in the order of k.
constexpr int kAddThreads = 256, kAddBlocks = 8;  // blocks per tile
template <class S>
__global__ void __launch_bounds__(kAddThreads)
    gemm_simt_add(const __grid_constant__ Args args, const __grid_constant__ Division division) {
  const int64_t cut = blockIdx.x / kAddBlocks;
  const Unit tile = unit_of_tile<S>(args, division, division.whole + cut);
  const Results<float> results(args, tile.batch);
  constexpr int kPacks = S::kRows * S::kCols / 4;
  const int64_t first = division.worker_of(cut * division.steps);
  const int pieces = int(division.worker_of((cut + 1) * division.steps - 1) - first) + 1;
  const float* const at = static_cast<const float*>(args.workspace) +
                          division.place_of(first, cut) * S::kRows * S::kCols;
  for (int i = int(blockIdx.x) % kAddBlocks * kAddThreads + int(threadIdx.x); i < kPacks;
       i += kAddBlocks * kAddThreads) {
    const int r = i / (S::kCols / 4), c = i % (S::kCols / 4) * 4;
    if (!results.c.has(tile.row + r, tile.col + c)) continue;
    float sums[4] = {};
#pragma unroll 4
    for (int piece = 0; piece < pieces; ++piece) {
      const Pack<float> part = load_pack(at + int64_t(piece) * S::kRows * S::kCols + i * 4);
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[j] += part[j];
    }
    put_pack(results, tile.row + r, tile.col + c, sums);
  }
}

// --- Launches ---

template <class S>
int64_t tiles_of_all(const Args& args) {
  return args.batch * tiles_of(args.m, S::kRows) * tiles_of(args.n, S::kCols);
}
// All tiles are whole.
template <class S>
Division whole_tiles(const Args& args) {
  return {.whole = tiles_of_all<S>(args),
          .steps = int(tiles_of(args.k, S::kDepth)),
          .down = int(tiles_of(args.m, S::kRows)),
          .across = int(tiles_of(args.n, S::kCols))};
}
// Deals all tiles from `whole` on to as many workers, or to fewer if there are fewer steps.
template <class S>
Division dealt_tiles(const Args& args, int64_t whole, int workers) {
  Division division = whole_tiles<S>(args);
  division.cut = division.whole - whole;
  division.whole = whole;
  division.workers = int(std::min<int64_t>(workers, division.dealt()));
  return division;
}
// Bytes of the partial sums.
template <class S>
size_t workspace_of(const Division& division) {
  return division.cut ? size_t(division.pieces()) * S::kRows * S::kCols * sizeof(float) : 0;
}

// A grid has fewer than 2^31 blocks.
template <class S>
Support has_grid(const Args& args) {
  const double tiles =
      double(args.batch) * double(tiles_of(args.m, S::kRows)) * double(tiles_of(args.n, S::kCols));
  return tiles < double(1u << 31) ? kSupported : "has 2^31 tiles or more";
}
template <class S>
Status launch_add(const Args& args, const Division& division, cudaStream_t stream) {
  if (division.cut == 0) return Status::ok();
  gemm_simt_add<S><<<unsigned(division.cut * kAddBlocks), kAddThreads, 0, stream>>>(args, division);
  return launch_status();
}

}  // namespace ridge::gemm::simt
