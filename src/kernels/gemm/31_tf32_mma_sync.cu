// gemm rung 31, tf32_mma_sync: f32 by tensor cores, which look at 10 bits of each fraction.
//
// Since 12_cp_async: the same slabs on the same way to shared memory, but a warp multiplies 16 by 8
//   by 8 of them with one instruction, mma.sync in tf32. A lane's elements of a factor lie in 4
//   levels, 8 neighbours in each; with a pitch of 136 elements they lie in 32 banks. The low 13
//   bits of a factor are cut off by the instruction, so nothing is converted.
// Stops at: loads from shared memory, one for every element of a fragment: in 32 bits, ldmatrix
//   brings fragments of factors whose depth is contiguous only.
// Not for: products that need more than the 11 significant bits of tf32.
#include "device/ptx/mma.cuh"
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/slab_copy.cuh"
#include "kernels/gemm/tile_cost.cuh"

namespace ridge::gemm::tf32_mma_sync {

constexpr int kEdge = 128, kDepth = 16, kThreads = 256;
constexpr int kPitch = kEdge + 8;
constexpr int kWarpRows = 64, kWarpCols = 32;
constexpr int kDown = kWarpRows / 16, kAcross = kWarpCols / 8;  // products of a warp

using AlongX = CopyAlongX<kEdge, kDepth, kPitch, kThreads>;
using AlongK = CopyAlongK<kEdge, kDepth, kPitch, kThreads>;

struct Sums {
  float of[kDown][kAcross][4] = {};

  // Adds eight levels. a and b are the lane's first elements in them.
  __device__ __forceinline__ void add(const float* a, const float* b) {
    const auto word = [](const float* slab, int level, int x) {
      return __float_as_uint(slab[level * kPitch + x]);
    };
    uint32_t right[kAcross][2];
#pragma unroll
    for (int j = 0; j < kAcross; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) right[j][half] = word(b, 4 * half, 8 * j);
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
      const uint32_t left[4] = {word(a, 0, 16 * i), word(a, 0, 16 * i + 8), word(a, 4, 16 * i),
                                word(a, 4, 16 * i + 8)};
#pragma unroll
      for (int j = 0; j < kAcross; ++j) ptx::mma_16x8x8(of[i][j], left, right[j]);
    }
  }
};

template <class CopyA, class CopyB>
__global__ void __launch_bounds__(kThreads, 2) gemm_tf32_mma_sync(Args args) {
  __shared__ alignas(16) float tile_a[2][kDepth][kPitch];  // (k, row)
  __shared__ alignas(16) float tile_b[2][kDepth][kPitch];  // (k, col)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  CopyA a(slab_of_a(args, tile.row));
  CopyB b(slab_of_b(args, tile.col));
  const auto ask = [&](int64_t k, int buffer) {
    a.ask(k, tile_a[buffer][0]);
    b.ask(k, tile_b[buffer][0]);
    ptx::commit_async_copies();
  };
  const auto put = [&](int buffer) {
    a.put(tile_a[buffer][0]);
    b.put(tile_b[buffer][0]);
  };
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  constexpr int kWarpsAcross = kEdge / kWarpCols;
  const int row = warp / kWarpsAcross * kWarpRows, col = warp % kWarpsAcross * kWarpCols;
  Sums sums;
  if (args.k > 0) {
    ask(0, 0);
    put(0);
  }
  int buffer = 0;
  for (int64_t k = 0; k < args.k; k += kDepth, buffer ^= 1) {
    ptx::wait_for_async_copies<0>();
    __syncthreads();  // all copies of this step are there, and the other buffer has been read
    const bool goes_on = k + kDepth < args.k;
    if (goes_on) ask(k + kDepth, buffer ^ 1);
#pragma unroll
    for (int level = 0; level < kDepth; level += 8)
      sums.add(&tile_a[buffer][level + lane % 4][row + lane / 4],
               &tile_b[buffer][level + lane % 4][col + lane / 4]);
    if (goes_on) put(buffer ^ 1);
  }
  const Results<float> results(args);
#pragma unroll
  for (int i = 0; i < kDown; ++i)
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
      const int64_t r = tile.row + row + 16 * i + lane / 4, c = tile.col + col + 8 * j + lane % 4 * 2;
      put_two(results, r, c, sums.of[i][j][0], sums.of[i][j][1]);
      put_two(results, r + 8, c, sums.of[i][j][2], sums.of[i][j][3]);
    }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.may_round ? only_f32(a) : "rounds factors to tf32, which needs precision = tf32";
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  const auto along_x = [](bool b) {
    return b ? gemm_tf32_mma_sync<AlongX, AlongX> : gemm_tf32_mma_sync<AlongX, AlongK>;
  };
  const auto along_k = [](bool b) {
    return b ? gemm_tf32_mma_sync<AlongK, AlongX> : gemm_tf32_mma_sync<AlongK, AlongK>;
  };
  const bool b_along_x = b_is_along_x(args);
  const auto kernel = a_is_along_x(args) ? along_x(b_along_x) : along_k(b_along_x);
  return gemm::launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
    kernel<<<grid, kThreads, 0, stream>>>(part);
  });
}

// Guesses for an H200: half of the rate of mma.sync.
constexpr TilePace kPace = {.per_sm = 2, .few = 1, .step = 1.1, .few_step = 0.6, .tile = 4.0};
static double cost(const Args& args, const DeviceInfo& device) {
  const int64_t tiles = args.batch * tiles_of(args.m, kEdge) * tiles_of(args.n, kEdge);
  return 2.0 + turns_us(kPace, tiles, tiles_of(args.k, kDepth), device);
}
constinit const Rung rung = {.idea = "f32 by tensor cores: tf32 by mma.sync",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.global_stores_per_element = 0.5, .barriers = 16}};

}  // namespace ridge::gemm::tf32_mma_sync
