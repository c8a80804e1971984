// gemm rung 14, wmma_shared_tile: the fragments come from tiles in shared memory.
//
// Since 13_wmma: a block brings tiles of 64 by 32 elements to shared memory in chunks of 16 bytes,
//   and each of its four warps makes 32 by 32 results from them: a fragment that is loaded serves
//   two products, and an element of global memory serves 64. Chunks that cross an edge or lie askew
//   are read element by element, so any size will do.
// Stops at: waiting. Copies pass through registers, and nobody multiplies until they are there.
// Not for: matrices that make few tiles of 64 by 64.
#include "device/from_detail.cuh"
#include "kernels/gemm/launch.cuh"
#include "kernels/gemm/wmma.cuh"

namespace ridge::gemm::wmma_shared_tile {

using namespace by_wmma;

constexpr int kTile = 64, kDepth = 32;
constexpr int kWarps = 4;
constexpr int kThreads = kWarps * 32;
constexpr int kChunk = 8;    // elements of 16 bytes
constexpr int kPadding = 8;  // elements: neighbouring rows begin in other banks

// A tile of an operand: kTile rows of a, or columns of b, by kDepth levels.
template <bool kTurned>
struct Tile {
  static constexpr int kPitch = (kTurned ? kTile : kDepth) + kPadding;
  alignas(128) T at[(kTurned ? kDepth : kTile) * kPitch];

  __device__ __forceinline__ T* place(int x, int k) {
    return at + (kTurned ? k * kPitch + x : x * kPitch + k);
  }
  // `x_step` and `k_step`: of the matrix that `from` points into; `xs` and `ks` are left of it.
  __device__ __forceinline__ void load(const T* from, int64_t x_step, int64_t k_step, int64_t xs,
                                       int64_t ks) {
    constexpr int kPerLine = (kTurned ? kTile : kDepth) / kChunk;
#pragma unroll
    for (int pass = 0; pass < kTile * kDepth / kChunk / kThreads; ++pass) {
      const int chunk = pass * kThreads + int(threadIdx.x);
      const int along = chunk % kPerLine * kChunk, line = chunk / kPerLine;
      const int x = kTurned ? along : line, k = kTurned ? line : along;
      const T* const first = from + x * x_step + k * k_step;
      const int64_t step = kTurned ? x_step : k_step;
      const int64_t left = kTurned ? (k < ks ? xs - x : 0) : (x < xs ? ks - k : 0);
      Pack<T> pack;
      if (left >= kChunk && step == 1 && is_pack_aligned(first)) {
        pack = load_pack(first);
      } else {
#pragma unroll
        for (int i = 0; i < kChunk; ++i) pack[i] = i < left ? first[i * step] : T(0.0f);
      }
      *reinterpret_cast<Pack<T>*>(place(x, k)) = pack;
    }
  }
};

template <class TurnedA, class TurnedB>
__global__ void __launch_bounds__(kThreads) gemm_wmma_shared_tile(Args args) {
  namespace wmma = nvcuda::wmma;
  __shared__ Tile<TurnedA::value> tile_a;
  __shared__ Tile<TurnedB::value> tile_b;
  __shared__ Staging staging[kWarps];
  const auto a = matrix_a<T>(args);  // (m, k)
  const auto b = matrix_b<T>(args);  // (k, n)
  const TilePlace tile = tile_place(args, kTile, kTile);
  const int warp = int(threadIdx.x) / 32;
  const int row = warp / 2 * 32, col = warp % 2 * 32;
  Sums sums[2][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
  for (int64_t k = 0; k < args.k; k += kDepth) {
    tile_a.load(a.at(tile.row, k), a.row_step, a.col_step, args.m - tile.row, args.k - k);
    tile_b.load(b.at(k, tile.col), b.col_step, b.row_step, args.n - tile.col, args.k - k);
    __syncthreads();
#pragma unroll
    for (int level = 0; level < kDepth; level += kEdge) {
      FragmentA<TurnedA::value> x[2];
      FragmentB<TurnedB::value> y[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(x[i], tile_a.place(row + i * kEdge, level), tile_a.kPitch);
        wmma::load_matrix_sync(y[i], tile_b.place(col + i * kEdge, level), tile_b.kPitch);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        wmma::mma_sync(sums[i / 2][i % 2], x[i / 2], y[i % 2], sums[i / 2][i % 2]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    put(args, staging[warp], tile.row + row + i / 2 * kEdge, tile.col + col + i % 2 * kEdge,
        sums[i / 2][i % 2]);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.dtype != Dtype::bf16) return "this lesson multiplies bf16";
  return only_plain(a);
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return with_turns(args, [&](auto a, auto b) {
    return launch_tiles(args, kTile, kTile, [&](const Args& part, dim3 grid) {
      gemm_wmma_shared_tile<decltype(a), decltype(b)><<<grid, kThreads, 0, stream>>>(part);
    });
  });
}
constinit const Rung rung = {.idea = "tensor cores, on fragments from shared tiles",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_loads_per_element = 2 * 256. / 64 / 8,
                                        .global_stores_per_element = 0.5,
                                        .barriers = 16}};

}  // namespace ridge::gemm::wmma_shared_tile
