// gemm rung 15, mma_sync: 16-bit operands on the tensor cores of any GPU since Ampere.
//
// Since 14_wmma_shared_tile: mma.sync, whose fragments have a known layout, and ldmatrix, which
//   brings them, also from a tile that lies the other way: it turns them as it loads. Tiles are 128
//   by 128 by 64, in rows of 128 bytes, swizzled so that neither copies nor ldmatrix meet a bank
//   conflict. Three stages are in shared memory: two are under way while one is multiplied.
// Stops at: mma.sync itself, which on Hopper reaches about two thirds of what wgmma does, and
//   at the registers through which every fragment has to pass.
// Not for: Hopper GPUs, where the copy engine can reach the matrices.
#include "device/mma_operand.cuh"
#include "kernels/gemm/asked_fragments.cuh"
#include "kernels/gemm/launch.cuh"

namespace ridge::gemm::mma_sync {

constexpr int kEdge = 128, kDepth = 64;
constexpr int kThreads = 256;                  // 8 warps: 2 rows of 4
constexpr int kWarpRows = 64, kWarpCols = 32;  // results of a warp
constexpr int kStages = 3;
constexpr int kSharedBytes = kStages * 2 * kEdge * kDepth * 2;

template <class Out>
__device__ __forceinline__ void put_sums(const Args& args, int64_t row, int64_t col,
                                         const float (&sums)[4][4][4]) {
  const Results<Out> results(args);
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        put_two(results, row + 16 * i + 8 * half, col + 8 * j, sums[i][j][2 * half],
                sums[i][j][2 * half + 1]);
}

// With an epilogue, 16 rows at a time.
template <class Out>
__device__ __forceinline__ void put_asked_sums(const Args& args, int64_t row, int64_t col,
                                               const float (&sums)[4][4][4]) {
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    float values[16];
    with_constant<4>(i, [&](auto constant) {
#pragma unroll
      for (int j = 0; j < 16; ++j) values[j] = sums[decltype(constant)::value][j / 4][j % 4];
    });
    put_asked<Out>(args, blockIdx.y, row + 16 * i, col, values);
  }
}

template <class T, bool kTurnedA, bool kTurnedB, bool kAsked>
__global__ void __launch_bounds__(kThreads, 2) gemm_mma_sync(Args args) {
  using A = MmaOperand<T, kTurnedA>;
  using B = MmaOperand<T, kTurnedB>;
  extern __shared__ __align__(128) char shared[];
  char* const tiles_a = shared;                        // (stage, 128 rows, 64 levels)
  char* const tiles_b = shared + kStages * A::kBytes;  // (stage, 128 columns, 64 levels)
  const TilePlace tile = tile_place(args, kEdge, kEdge);
  const auto a = matrix_a<T>(args);
  const auto b = matrix_b<T>(args);
  typename A::template Copy<kThreads> copy_a(
      {a.at(tile.row, 0), a.row_step, a.col_step, args.m - tile.row, args.k});
  typename B::template Copy<kThreads> copy_b(
      {b.at(0, tile.col), b.col_step, b.row_step, args.n - tile.col, args.k});
  const auto ask = [&](int64_t k, int stage) {
    if (k < args.k) {
      copy_a.ask(k, tiles_a + stage * A::kBytes);
      copy_b.ask(k, tiles_b + stage * B::kBytes);
    }
    ptx::commit_async_copies();  // also of nothing, so that every step has a group
  };
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int row = warp / (kEdge / kWarpCols) * kWarpRows;
  const int col = warp % (kEdge / kWarpCols) * kWarpCols;
  const int place_a = A::place_a(row), place_b = B::place_b(col);
  float sums[4][4][4] = {};  // (16 rows, 8 columns) each

#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) ask(int64_t(s) * kDepth, s);
  int stage = 0;
  for (int64_t k = 0; k < args.k; k += kDepth) {
    ptx::wait_for_async_copies<kStages - 2>();
    __syncthreads();  // this stage is there, and the one before has been read
    ask(k + (kStages - 1) * kDepth, stage == 0 ? kStages - 1 : stage - 1);
    const char* const tile_a = tiles_a + stage * A::kBytes;
    const char* const tile_b = tiles_b + stage * B::kBytes;
#pragma unroll
    for (int level = 0; level < kDepth; level += 16) {
      uint32_t x[4][4], y[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) A::fragment(x[i], tile_a + A::moved(place_a, i, level));
#pragma unroll
      for (int j = 0; j < 2; ++j) B::fragment(y[j], tile_b + B::moved(place_b, j, level));
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          ptx::mma_16x8x16<T>(sums[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
    }
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  if constexpr (kAsked) {
    if (args.result == Dtype::f32)
      put_asked_sums<float>(args, tile.row + row, tile.col + col, sums);
    else put_asked_sums<T>(args, tile.row + row, tile.col + col, sums);
  } else {
    const int64_t first_row = tile.row + row + lane / 4, first_col = tile.col + col + lane % 4 * 2;
    if (args.result == Dtype::f32) put_sums<float>(args, first_row, first_col, sums);
    else put_sums<T>(args, first_row, first_col, sums);
  }
}

template <class T, bool kAsked>
auto kernel_for(const Args& a) {
  // Of a matrix with one row or column, either dimension may have any step; chunks of it are read
  // element by element.
  const bool turned_a = a.a.col_step != 1, turned_b = a.b.row_step != 1;
  if (turned_a)
    return turned_b ? gemm_mma_sync<T, true, true, kAsked> : gemm_mma_sync<T, true, false, kAsked>;
  return turned_b ? gemm_mma_sync<T, false, true, kAsked> : gemm_mma_sync<T, false, false, kAsked>;
}

static Support supports(const Args& a, const DeviceInfo& device) {
  if (a.dtype == Dtype::f32) return "multiplies f16 and bf16";
  constexpr int64_t kMost = int64_t(1) << 31;
  if (!a.epilogue.is_plain() && (a.m >= kMost || a.n >= kMost))
    return "epilogues take sizes below 2^31";
  return device.shared_per_block_optin >= kSharedBytes ? kSupported
                                                       : "needs 96 KiB of shared memory per block";
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return with_asked(args, stream, [&](auto asked) -> Status {
    const auto kernel = args.dtype == Dtype::f16 ? kernel_for<__half, asked.value>(args)
                                                 : kernel_for<__nv_bfloat16, asked.value>(args);
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
    return launch_tiles(args, kEdge, kEdge, [&](const Args& part, dim3 grid) {
      kernel<<<grid, kThreads, kSharedBytes, stream>>>(part);
    });
  });
}
constinit const Rung rung = {
    .idea = "tensor cores by mma.sync, fragments by ldmatrix",
    .supports = supports,
    .launch = launch,
    .claims = {.global_stores_per_element = 0.5, .barriers = 4, .conflict_free = true}};

}  // namespace ridge::gemm::mma_sync
