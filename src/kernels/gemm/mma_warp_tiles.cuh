// The kernel of rungs 16 and 17: tensor cores by mma.sync, one warp for 64 by 64 results, on
// operands that can be reached by whole packs of 16 bytes.
//
// Blocks are persistent. Copies run ahead of the products by several steps of 64 levels, also from
// one tile of d to the next. Within a step, a warp loads the fragments of 16 levels while it
// multiplies those of the 16 before.
#pragma once

#include "device/mma_copy.cuh"
#include "device/ptx/mbarrier.cuh"
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/matrix.cuh"

namespace ridge::gemm::mma_warp_tiles {

constexpr int kWarpEdge = 64;  // results of a warp
constexpr int kDepth = 64, kLevels = 16;
constexpr int kTileRows = 128, kTileCols = 256;
constexpr int kWarpsAcross = kTileCols / kWarpEdge;
constexpr int kThreads = kTileRows / kWarpEdge * kWarpsAcross * 32;
constexpr int kBand = 16;  // tiles: 2048 rows
constexpr int kLeastStages = 3, kMostStages = 4;
constexpr int kStageBytes = (kTileRows + kTileCols) * kDepth * 2;

// --- Which tile ---

// In bands: down the band, then on to its next column, so that tiles which are made at the same
// time share rows and columns in the L2 cache.
struct Tiles {
  int down, across, all;

  __host__ __device__ explicit Tiles(const Args& args)
      : down(int((args.m + kTileRows - 1) / kTileRows)),
        across(int((args.n + kTileCols - 1) / kTileCols)),
        all(down * across * int(args.batch)) {}

  struct Place {
    int row, col, batch;
  };
  __device__ __forceinline__ Place at(int index) const {
    const int batch = index / (down * across), of_product = index % (down * across);
    const int band = of_product / (kBand * across), in_band = of_product % (kBand * across);
    const int height = min(kBand, down - band * kBand);  // the last one may be lower
    return {(band * kBand + in_band % height) * kTileRows, in_band / height * kTileCols, batch};
  }
};

// --- Copies ---

// Asks for the steps of this block's tiles, one after another.
template <class A, class B>
class Asker {
  using T = typename A::Element;

 public:
  __device__ __forceinline__ Asker(const Args& args, const Tiles& tiles, char* stage)
      : args_(args), tiles_(tiles), tile_(int(blockIdx.x)) {
    start();
    if (steps_ == ends_) ask_at_end(stage);
  }
  // A third of a step, unless that was asked for by `advance`, or there is none left.
  template <int kThird>
  __device__ __forceinline__ void ask(char* stage) const {
    constexpr int kOfA = decltype(a_)::kPasses, kOfB = decltype(b_)::kPasses;
    if (steps_ <= ends_) return;
#pragma unroll
    for (int i = kOfA * kThird / 3; i < kOfA * (kThird + 1) / 3; ++i) a_.ask(i, stage);
#pragma unroll
    for (int i = kOfB * kThird / 3; i < kOfB * (kThird + 1) / 3; ++i) b_.ask(i, stage + A::kBytes);
  }
  // On to the next step, which goes to `stage`. A step that needs questions is asked for here.
  __device__ __forceinline__ void advance(char* stage) {
    a_.advance();
    b_.advance();
    if (--steps_ > ends_) return;
    if (steps_ <= 0) {
      tile_ += int(gridDim.x);
      start();
    }
    if (steps_ == ends_) ask_at_end(stage);
  }

 private:
  __device__ __forceinline__ void start() {
    steps_ = 0;
    ends_ = 1;
    if (tile_ >= tiles_.all) return;  // none left
    const auto place = tiles_.at(tile_);
    const auto a = matrix<T>(args_.a, args_.m, args_.k, place.batch);
    const auto b = matrix<T>(args_.b, args_.k, args_.n, place.batch);
    a_.start(a.at(place.row, 0), int(A::kIsTurned ? a.col_step : a.row_step),
             int(args_.m) - place.row);
    b_.start(b.at(0, place.col), int(B::kIsTurned ? b.row_step : b.col_step),
             int(args_.n) - place.col);
    steps_ = (int(args_.k) + kDepth - 1) / kDepth;
    ends_ = a_.has_end(last_levels()) || b_.has_end(last_levels()) ? 1 : 0;
  }
  __device__ __forceinline__ int last_levels() const { return (int(args_.k) - 1) % kDepth + 1; }
  __device__ __forceinline__ void ask_at_end(char* stage) const {
    a_.ask_at_end(last_levels(), stage);
    b_.ask_at_end(last_levels(), stage + A::kBytes);
  }

  const Args& args_;
  const Tiles& tiles_;
  int tile_;
  int steps_;  // that are left of this tile
  int ends_;   // how many of them need questions: 1 or 0
  MmaCopy<A, kThreads> a_;
  MmaCopy<B, kThreads> b_;
};

// --- Products ---

// Of 16 levels: 64 rows of a and 64 columns of b.
struct Fragments {
  uint32_t a[4][4], b[4][4];
};

// Where a warp finds its fragments in a stage.
template <class A, class B>
struct Reader {
  int place_a, place_b;

  __device__ __forceinline__ Reader(int row, int col)
      : place_a(A::place_a(row)), place_b(A::kBytes + B::place_b(col)) {}
  // One of four parts.
  __device__ __forceinline__ void load(int part, const char* stage, int level,
                                       Fragments& to) const {
    A::fragment(to.a[part], stage + A::moved(place_a, part, level));
    B::fragment(to.b[part], stage + B::moved(place_b, part, level));
  }
};

// 16 of the 64 rows. Every other part goes backwards, so that a fragment of b is used twice in a
// row.
template <class T>
__device__ __forceinline__ void multiply(int part, const Fragments& x, float (&sums)[4][8][4]) {
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const int j = part % 2 == 0 ? step : 7 - step;
    ptx::mma_16x8x16<T>(sums[part][j], x.a[part], x.b[j / 2][j % 2 * 2], x.b[j / 2][j % 2 * 2 + 1]);
  }
}

// --- Results ---

// What four neighbouring lanes have, exchanged. Before, lane q has columns 2 q and 2 q + 1 of each
// of four groups of 8 columns; after, sums[s] are columns 2 s and 2 s + 1 of group q.
__device__ __forceinline__ void gather_columns(float (&sums)[4][2]) {
#pragma unroll
  for (int distance = 1; distance <= 2; distance *= 2) {
    const bool is_upper = threadIdx.x & unsigned(distance);
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      if (s & distance) continue;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float &low = sums[s][e], &high = sums[s + distance][e];
        const float got = __shfl_xor_sync(0xffffffff, is_upper ? low : high, distance);
        low = is_upper ? got : low;
        high = is_upper ? high : got;
      }
    }
  }
}

// Eight neighbours of a row, in stores of 16 bytes where they are aligned.
template <class Out>
__device__ __forceinline__ void put_eight(const Results<Out>& results, int64_t row, int64_t col,
                                          const float (&sums)[4][2]) {
  constexpr int kPacks = 8 / kPackSize<Out>;
  Out* const place = results.d + row * results.d_step + col;
  if (results.beta == 0 && results.c.has(row, col + 7) && is_pack_aligned(place)) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      Pack<Out> pack;
#pragma unroll
      for (int i = 0; i < kPackSize<Out>; ++i) {
        const int at = p * kPackSize<Out> + i;
        pack[i] = from_float<Out>(results.alpha * sums[at / 2][at % 2]);
      }
      store_pack(place + p * kPackSize<Out>, pack);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) results.put(row, col + i, sums[i / 2][i % 2]);
}

template <class Out>
__device__ __forceinline__ void put_sums(const Args& args, int64_t row, int64_t col, int batch,
                                         const float (&sums)[4][8][4]) {
  const Results<Out> results(args, batch);
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        float eight[4][2];
#pragma unroll
        for (int g = 0; g < 4; ++g)
#pragma unroll
          for (int e = 0; e < 2; ++e) eight[g][e] = sums[i][j + g][2 * half + e];
        gather_columns(eight);
        put_eight(results, row + 16 * i + 8 * half + lane / 4, col + 8 * (j + lane % 4), eight);
      }
}

// --- The kernel ---

// A barrier of the block in two parts, so that warps multiply between them. `arrive` says that this
// warp has read all of its fragments of the stage, and that its copies to the next one are there.
struct StageBarrier {
  uint64_t* barrier;
  uint32_t phase = 0;

  __device__ __forceinline__ void arrive(int stages) const {
    if (stages == kMostStages) ptx::arrive_after_copies<kMostStages - 2>(barrier);
    else ptx::arrive_after_copies<kLeastStages - 2>(barrier);
  }
  __device__ __forceinline__ void wait() {
    ptx::mbarrier_spin(barrier, phase);
    phase ^= 1;
  }
};

template <class T, bool kTurnedA, bool kTurnedB>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_mma_warp_tiles(const __grid_constant__ Args args, int stages) {
  using A = MmaOperand<T, kTurnedA, kTileRows>;
  using B = MmaOperand<T, kTurnedB, kTileCols>;
  extern __shared__ __align__(128) char shared[];  // (stage: tile of a, tile of b)
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) ptx::mbarrier_init(&barrier, kThreads / 32);
  __syncthreads();
  StageBarrier next_stage = {&barrier};

  const Tiles tiles(args);
  char* writes = shared;
  const char* const last_stage = shared + (stages - 1) * kStageBytes;
  Asker<A, B> asker(args, tiles, writes);
  for (; writes != last_stage; asker.advance(writes)) {
    asker.template ask<0>(writes);
    asker.template ask<1>(writes);
    asker.template ask<2>(writes);
    ptx::commit_async_copies();
    writes += kStageBytes;
  }
  const int warp = int(threadIdx.x) / 32;
  const int row = warp / kWarpsAcross * kWarpEdge, col = warp % kWarpsAcross * kWarpEdge;
  const Reader<A, B> reader(row, col);
  char* reads = shared;
  Fragments fragments[2];
  next_stage.arrive(stages);
  next_stage.wait();
#pragma unroll
  for (int part = 0; part < 4; ++part) reader.load(part, reads, 0, fragments[0]);

  for (int tile = int(blockIdx.x); tile < tiles.all; tile += int(gridDim.x)) {
    float sums[4][8][4] = {};  // (16 rows, 8 columns) each
    for (int k = int(args.k); k > 0; k -= kDepth) {
      // After the very last step, what is loaded is not used; this stage is surely there.
      const bool is_last = k <= kDepth && tile + int(gridDim.x) >= tiles.all;
      char* const next = is_last ? reads : reads == last_stage ? shared : reads + kStageBytes;
      const auto multiply_16_levels = [&](int i) {  // and load the next 16
#pragma unroll
        for (int part = 0; part < 4; ++part) {
          reader.load(part, reads, (i + 1) * kLevels, fragments[(i + 1) % 2]);
          multiply<T>(part, fragments[i % 2], sums);
        }
      };
      asker.template ask<0>(writes);
      multiply_16_levels(0);
      asker.template ask<1>(writes);
      multiply_16_levels(1);
      asker.template ask<2>(writes);
      ptx::commit_async_copies();
      multiply_16_levels(2);
      next_stage.arrive(stages);
      multiply<T>(0, fragments[1], sums);
      multiply<T>(1, fragments[1], sums);
      next_stage.wait();
      reader.load(0, next, 0, fragments[0]);
      reader.load(1, next, 0, fragments[0]);
      multiply<T>(2, fragments[1], sums);
      reader.load(2, next, 0, fragments[0]);
      reader.load(3, next, 0, fragments[0]);
      multiply<T>(3, fragments[1], sums);
      writes = reads;
      reads = next;
      asker.advance(writes);
    }
    const auto place = tiles.at(tile);
    if (args.result == Dtype::f32)
      put_sums<float>(args, place.row + row, place.col + col, place.batch, sums);
    else put_sums<T>(args, place.row + row, place.col + col, place.batch, sums);
  }
}

template <class T>
auto kernel_for(const Args& a) {
  const bool turned_a = a.a.col_step != 1, turned_b = a.b.row_step != 1;
  if (turned_a)
    return turned_b ? gemm_mma_warp_tiles<T, true, true> : gemm_mma_warp_tiles<T, true, false>;
  return turned_b ? gemm_mma_warp_tiles<T, false, true> : gemm_mma_warp_tiles<T, false, false>;
}

inline Support supports(const Args& a, const DeviceInfo& device) {
  if (a.dtype == Dtype::f32) return "multiplies f16 and bf16";
  if (const Support plain = only_plain(a); !plain) return plain;
  if (a.k == 0) return "there is nothing to multiply";
  if (device.shared_per_block_optin < kLeastStages * kStageBytes)
    return "needs 144 KiB of shared memory per block";
  constexpr int64_t kMost = int64_t(1) << 30;  // coordinates and lines are counted in int
  for (const int64_t size : {a.m, a.n, a.k, a.a.row_step, a.a.col_step, a.b.row_step, a.b.col_step})
    if (size >= kMost) return "takes sizes and steps from row to row below 2^30";
  const int64_t tiles = tiles_of(a.m, kTileRows) * tiles_of(a.n, kTileCols);
  if (tiles >= kMost || tiles * a.batch >= kMost) return "takes less than 2^30 tiles";
  return kSupported;
}

// Operands must be reached by whole packs.
inline Status launch(const Args& args, const DeviceInfo& device, cudaStream_t stream) {
  if (is_empty(args)) return Status::ok();
  const auto kernel =
      args.dtype == Dtype::f16 ? kernel_for<__half>(args) : kernel_for<__nv_bfloat16>(args);
  const int stages = std::min(kMostStages, device.shared_per_block_optin / kStageBytes);
  const int bytes = stages * kStageBytes;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
  const int blocks = std::min(Tiles(args).all, device.sm_count);
  kernel<<<unsigned(blocks), kThreads, size_t(bytes), stream>>>(args, stages);
  return launch_status();
}

}  // namespace ridge::gemm::mma_warp_tiles
