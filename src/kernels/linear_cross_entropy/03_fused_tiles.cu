// linear_cross_entropy rung 03, fused_tiles: logits live in registers, from the product to the sum.
//
// Since 02_row_chunks: a block multiplies 128 rows of hidden with 128 rows of weight after the
//   other (mma.sync, tiles as gemm's rung 15 has them), and each thread adds the logits that it
//   holds to the maximum and sum of their row at once. So the loss takes no memory for logits, and
//   none of them is rounded to 16 bits.
// Stops at: mma.sync, which on Hopper reaches about two thirds of what wgmma does. Exponentials
//   wait for products: both are made by the same warps, one after the other.
// Not for: gradients, which would need each logit a second time, when lse is known: a fourth
//   product instead of three. With smoothing, not for large logits: it takes their plain mean.
#include "device/mma_operand.cuh"
#include "kernels/linear_cross_entropy/around.cuh"

namespace ridge::linear_cross_entropy::fused_tiles {

using cross_entropy::Fast, cross_entropy::Statistics, cross_entropy::Target;
constexpr int kEdge = 128, kDepth = 64;
constexpr int kThreads = 256;                  // 8 warps: 2 rows of 4
constexpr int kWarpRows = 64, kWarpCols = 32;  // logits of a warp
constexpr int kWarpsAcross = kEdge / kWarpCols;
constexpr int kStages = 3;
constexpr int kSharedBytes = kStages * 2 * kEdge * kDepth * 2;
constexpr int kLinesOfThread = 8;  // rows of the tile in which a thread has logits

// The rows' statistics so far, of one thread's columns: row i / 2 * 16 + i % 2 * 8 of its warp.
struct Lines {
  Statistics of[kLinesOfThread];
  float target_logit[kLinesOfThread];
  int target[kLinesOfThread];

  __device__ __forceinline__ Lines(const Args& a, int64_t first) {
#pragma unroll
    for (int i = 0; i < kLinesOfThread; ++i) {
      const int64_t row = first + i / 2 * 16 + i % 2 * 8;
      target[i] = row < a.rows.rows ? Target(a.rows, row).column : -1;
      target_logit[i] = 0;
    }
  }
  // The logits of one tile, whose columns begin at `first` for this thread.
  __device__ __forceinline__ void add(const float (&sums)[4][4][4], int64_t first, int64_t cols) {
#pragma unroll
    for (int i = 0; i < kLinesOfThread; ++i) {
      float x[8], max = of[i].max;
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const int64_t col = first + k / 2 * 8 + k % 2;
        x[k] = col < cols ? sums[i / 2][k / 2][i % 2 * 2 + k % 2] : -INFINITY;
        max = fmaxf(max, x[k]);
        if (col == target[i]) target_logit[i] = x[k];
        if (col < cols) of[i].total += x[k];
      }
      float sum = of[i].sum * max_sum::rescaled(of[i].max, max);
      const float base = max_sum::base_of(max);
#pragma unroll
      for (int k = 0; k < 8; ++k) sum += Fast::exp(x[k] - base);
      of[i].max = max;
      of[i].sum = sum;
    }
  }
};

__device__ __forceinline__ Statistics merged(const Statistics& s, const float4& other) {
  const float max = fmaxf(s.max, other.x);
  return {max, s.sum * max_sum::rescaled(s.max, max) + other.y * max_sum::rescaled(other.x, max),
          s.total + other.z};
}

// Block (tile of rows, part of the columns). A partial is a part's statistics of one row, and the
// target's logit if it is in this part, else 0.
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    linear_cross_entropy_tiles(Args a, int tiles_per_part, float4* partials) {
  using Operand = MmaOperand<T, false>;
  using Copy = typename Operand::template Copy<kThreads>;
  extern __shared__ __align__(128) char shared[];
  char* const tiles_a = shared;                              // (stage, 128 rows, 64 levels)
  char* const tiles_b = shared + kStages * Operand::kBytes;  // (stage, 128 columns, 64 levels)
  const int64_t rows = a.rows.rows, cols = a.rows.cols, first_row = int64_t(blockIdx.x) * kEdge;
  const int64_t first_tile = int64_t(blockIdx.y) * tiles_per_part;
  const int tiles = int(min(int64_t(tiles_per_part), (cols + kEdge - 1) / kEdge - first_tile));
  const int steps = int((a.dim + kDepth - 1) / kDepth);  // of one tile
  const auto copy_of_a = [&] {
    return Copy({static_cast<const T*>(a.hidden) + first_row * a.hidden_stride, a.hidden_stride, 1,
                 rows - first_row, a.dim});
  };
  const auto copy_of_b = [&](int tile) {
    const int64_t col = (first_tile + tile) * kEdge;
    return Copy({static_cast<const T*>(a.weight) + col * a.weight_stride, a.weight_stride, 1,
                 cols - col, a.dim});
  };
  Copy copy_a = copy_of_a(), copy_b = copy_of_b(0);
  int asked_tile = 0, asked_step = 0;  // what is asked for next
  const auto ask = [&](int stage) {
    if (asked_tile < tiles) {
      copy_a.ask(int64_t(asked_step) * kDepth, tiles_a + stage * Operand::kBytes);
      copy_b.ask(int64_t(asked_step) * kDepth, tiles_b + stage * Operand::kBytes);
      if (++asked_step == steps && ++asked_tile < tiles) {
        asked_step = 0;
        copy_a = copy_of_a();
        copy_b = copy_of_b(asked_tile);
      }
    }
    ptx::commit_async_copies();  // also of nothing, so that every step has a group
  };
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int row = warp / kWarpsAcross * kWarpRows, col = warp % kWarpsAcross * kWarpCols;
  const int place_a = Operand::place_a(row), place_b = Operand::place_b(col);
  Lines lines(a, first_row + row + lane / 4);

#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) ask(s);
  int stage = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    float sums[4][4][4] = {};  // (16 rows, 8 columns) each
    for (int step = 0; step < steps; ++step) {
      ptx::wait_for_async_copies<kStages - 2>();
      __syncthreads();  // this stage is there, and the one before has been read
      ask(stage == 0 ? kStages - 1 : stage - 1);
      const char* const tile_a = tiles_a + stage * Operand::kBytes;
      const char* const tile_b = tiles_b + stage * Operand::kBytes;
#pragma unroll
      for (int level = 0; level < kDepth; level += 16) {
        uint32_t x[4][4], y[2][4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          Operand::fragment(x[i], tile_a + Operand::moved(place_a, i, level));
#pragma unroll
        for (int j = 0; j < 2; ++j)
          Operand::fragment(y[j], tile_b + Operand::moved(place_b, j, level));
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            ptx::mma_16x8x16<T>(sums[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
      }
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    lines.add(sums, (first_tile + tile) * kEdge + col + lane % 4 * 2, cols);
  }

  // Four neighbouring lanes have the columns of a row, and the four warps across.
  ptx::wait_for_async_copies<0>();
  __syncthreads();
  float4* const of_warps = reinterpret_cast<float4*>(shared);  // (128 rows, 4 warps)
#pragma unroll
  for (int i = 0; i < kLinesOfThread; ++i) {
    const Statistics s = cross_entropy::lanes_merge(lines.of[i], 4);
    const float target_logit = lanes_sum(lines.target_logit[i], 4);
    const int line = row + lane / 4 + i / 2 * 16 + i % 2 * 8;
    if (lane % 4 == 0)
      of_warps[line * kWarpsAcross + warp % kWarpsAcross] = {s.max, s.sum, s.total, target_logit};
  }
  __syncthreads();
  const int line = int(threadIdx.x);
  if (line >= kEdge || first_row + line >= rows) return;
  Statistics s;
  float target_logit = 0;
#pragma unroll
  for (int w = 0; w < kWarpsAcross; ++w) {
    const float4 one = of_warps[line * kWarpsAcross + w];
    s = merged(s, one);
    target_logit += one.w;
  }
  partials[(first_row + line) * gridDim.y + blockIdx.y] = {s.max, s.sum, s.total, target_logit};
}

// One warp per row.
constexpr int kMergeWarps = 8;
static __global__ void __launch_bounds__(kMergeWarps* kWarpSize)
    linear_cross_entropy_merge(Args a, const float4* partials, int parts, float* losses) {
  const int lane = threadIdx.x % kWarpSize;
  const int64_t r = int64_t(blockIdx.x) * kMergeWarps + threadIdx.x / kWarpSize;
  if (r >= a.rows.rows) return;  // the whole warp
  Statistics s;
  float target_logit = 0;
  for (int i = lane; i < parts; i += kWarpSize) {
    const float4 one = partials[r * parts + i];
    s = merged(s, one);
    target_logit += one.w;
  }
  s = cross_entropy::lanes_merge(s);
  target_logit = lanes_sum(target_logit, kWarpSize);
  if (lane > 0) return;
  const Target target(a.rows, r);
  const float log_sum = logf(s.sum), smoothing = a.rows.smoothing;
  float loss = (s.max - target_logit) + log_sum;
  if (smoothing > 0)
    loss = (1 - smoothing) * loss + smoothing * ((s.max - s.total / float(a.rows.cols)) + log_sum);
  losses[r] = target.is_ignored ? 0 : target.is_inside ? loss : NAN;
}

// As many parts as fill the device.
struct Grid {
  int64_t row_tiles, tiles_per_part, parts;
  Grid(const Args& a, const DeviceInfo& device) : row_tiles((a.rows.rows + kEdge - 1) / kEdge) {
    const int64_t tiles = std::max<int64_t>((a.rows.cols + kEdge - 1) / kEdge, 1);
    const int64_t wanted =
        std::clamp<int64_t>(device.sm_count / std::max<int64_t>(row_tiles, 1), 1, tiles);
    tiles_per_part = (tiles + wanted - 1) / wanted;
    parts = (tiles + tiles_per_part - 1) / tiles_per_part;
  }
};

static Support supports(const Args& a, const DeviceInfo& device) {
  if (const Support s = supports_any(a); !s) return s;
  if (has_gradient(a)) return "makes the loss alone";
  if (a.dtype == Dtype::f32) return "multiplies f16 and bf16";
  return device.shared_per_block_optin >= kSharedBytes ? kSupported
                                                       : "needs 96 KiB of shared memory per block";
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return around_rows(a, stream, [&](const Scratch& scratch) -> Status {
    if (a.rows.rows == 0) return Status::ok();
    const Grid grid(a, device);
    float4* const partials = reinterpret_cast<float4*>(scratch.rest);
    const auto kernel = a.dtype == Dtype::f16 ? linear_cross_entropy_tiles<__half>
                                              : linear_cross_entropy_tiles<__nv_bfloat16>;
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
    kernel<<<dim3(unsigned(grid.row_tiles), unsigned(grid.parts)), kThreads, kSharedBytes,
             stream>>>(a, int(grid.tiles_per_part), partials);
    if (const Status s = launch_status(); !s) return s;
    linear_cross_entropy_merge<<<unsigned((a.rows.rows + kMergeWarps - 1) / kMergeWarps),
                                 kMergeWarps * kWarpSize, 0, stream>>>(a, partials, int(grid.parts),
                                                                       scratch.losses);
    return launch_status();
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  return Scratch::bytes(a) + size_t(a.rows.rows * Grid(a, device).parts) * sizeof(float4);
}
constinit const Rung rung = {.idea = "the loss from tiles of logits that stay in registers",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.barriers = 3}};

}  // namespace ridge::linear_cross_entropy::fused_tiles
