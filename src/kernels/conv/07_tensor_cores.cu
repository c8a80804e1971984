// conv rung 07, tensor_cores: the implicit product by mma.sync, for f16 and bf16.
//
// Since 06_implicit_gemm: tensor cores multiply 16 filters by 8 pixels over 16 levels in one
//   instruction of a warp. They want 8 channels of a pixel in 16 bytes. Where x and w do not lie
//   so, a first kernel copies them to the workspace with their channels last; then one asynchronous
//   copy brings 8 levels, and writes zeros where a tap lies outside of the image. Three steps of 64
//   levels are in shared memory, swizzled: two are under way while one is multiplied.
// Stops at: mma.sync, which reaches about two thirds of what Hopper's wgmma does; the two reads and
//   writes of x that the copy takes, where the channels come first.
// Not for: few channels per group, since 8 of them fill a chunk: a depthwise convolution would
//   multiply 7 zeros out of 8 (05 serves it); f32, which tensor cores do not multiply exactly.
#include <cmath>

#include "device/mma_operand.cuh"
#include "kernels/conv/packed.cuh"
#include "kernels/conv/times.cuh"

namespace ridge::conv::tensor_cores {

constexpr int kPixels = 128, kDepth = 64, kStages = 3;
constexpr int kChunks = kDepth / kChunk;    // of a step
constexpr int kLines = kThreads / kChunks;  // rows that all threads copy at once
constexpr int kPixelPasses = kPixels / kLines;
constexpr int kWarpPixels = kPixels / 4;  // 2 warps along the filters, 4 along the pixels

template <int kFilters>
constexpr int kSharedBytes = kStages*(kFilters + kPixels) * kDepth * 2;

struct Grid {
  int filter_blocks;                       // of a group
  Divider by_chunks, by_width, by_height;  // from a chunk to its tap's place
};

// The pixels that a thread copies for: where their first taps lie.
struct Rows {
  int first[kPixelPasses][kDirections];
  int64_t at[kPixelPasses];
};

template <class T, int kFilters>
__global__ void __launch_bounds__(kThreads, 2)
    conv_tensor_cores(Args a, Packed packed, Pixels pixels, Grid grid) {
  using A = MmaOperand<T, false, kFilters>;
  using B = MmaOperand<T, false, kPixels>;
  constexpr int kWarpFilters = kFilters / 2, kFilterPasses = kFilters / kLines;
  extern __shared__ __align__(128) char shared[];
  char* const tiles_a = shared;                        // (stage, kFilters, 64 levels)
  char* const tiles_b = shared + kStages * A::kBytes;  // (stage, 128 pixels, 64 levels)
  const int group = int(blockIdx.y) / grid.filter_blocks;
  const int filter = int(blockIdx.y) % grid.filter_blocks * kFilters;  // of the group
  const int first_pixel = int(blockIdx.x) * kPixels;

  const int chunk = int(threadIdx.x) % kChunks, line = int(threadIdx.x) / kChunks;
  const int to = A::place(line, chunk * kChunk);
  Rows rows;
#pragma unroll
  for (int pass = 0; pass < kPixelPasses; ++pass) {
    const int index = first_pixel + line + pass * kLines;
    const Pixels::At at = pixels.at(min(index, pixels.count - 1));
    rows.at[pass] = at.image * packed.image + group * packed.group;
#pragma unroll
    for (int d = 0; d < kDirections; ++d) {
      rows.first[pass][d] = a.along[d].first(at.pixel.out[d]);
      rows.at[pass] += rows.first[pass][d] * packed.at[d];
    }
    if (index >= pixels.count) rows.first[pass][0] = -(1 << 30);  // outside, whatever the tap
  }
  const int64_t filter_step = packed.filter_step(a);
  const T* const x = static_cast<const T*>(packed.x);
  const T* const w = static_cast<const T*>(packed.w) +
                     (int64_t(group) * a.group_filters + filter + line) * filter_step;
  const int all_chunks = a.taps() * packed.chunks;
  const int steps = (all_chunks + kChunks - 1) / kChunks;

  const auto ask = [&](int step, int stage) {
    const int q = step * kChunks + chunk;
    if (step < steps) {
      const bool is_there = q < all_chunks;
      char* const to_a = tiles_a + stage * A::kBytes + to;
#pragma unroll
      for (int pass = 0; pass < kFilterPasses; ++pass) {
        const bool has = is_there && filter + line + pass * kLines < a.group_filters;
        ptx::copy_async_16(to_a + pass * kLines * A::kRowBytes,
                           has ? w + pass * kLines * filter_step + int64_t(q) * kChunk : x, has);
      }
      const int index = int(grid.by_chunks.quotient(q)), row = int(grid.by_width.quotient(index)),
                plane = int(grid.by_height.quotient(row));
      const int tap[kDirections] = {plane, row - plane * a.along[1].kernel,
                                    index - row * a.along[2].kernel};
      int moved[kDirections];
      int64_t offset = (q - index * packed.chunks) * kChunk;
#pragma unroll
      for (int d = 0; d < kDirections; ++d) {
        moved[d] = tap[d] * a.along[d].dilation;
        offset += moved[d] * packed.at[d];
      }
      char* const to_b = tiles_b + stage * B::kBytes + to;
#pragma unroll
      for (int pass = 0; pass < kPixelPasses; ++pass) {
        bool has = is_there;
#pragma unroll
        for (int d = 0; d < kDirections; ++d)
          has = has && unsigned(rows.first[pass][d] + moved[d]) < unsigned(a.along[d].in);
        ptx::copy_async_16(to_b + pass * kLines * B::kRowBytes,
                           x + (has ? rows.at[pass] + offset : 0), has);
      }
    }
    ptx::commit_async_copies();  // also of nothing, so that every step has a group
  };

  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int row = warp / 4 * kWarpFilters, col = warp % 4 * kWarpPixels;
  const int place_a = A::place_a(row), place_b = B::place_b(col);
  float sums[kWarpFilters / 16][4][4] = {};  // (16 filters, 8 pixels) each
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) ask(s, s);
  int stage = 0;
  for (int step = 0; step < steps; ++step) {
    ptx::wait_for_async_copies<kStages - 2>();
    __syncthreads();  // this stage is there, and the one before has been read
    ask(step + kStages - 1, stage == 0 ? kStages - 1 : stage - 1);
    const char* const tile_a = tiles_a + stage * A::kBytes;
    const char* const tile_b = tiles_b + stage * B::kBytes;
#pragma unroll
    for (int level = 0; level < kDepth; level += 16) {
      uint32_t f[kWarpFilters / 16][4], p[2][4];
#pragma unroll
      for (int i = 0; i < kWarpFilters / 16; ++i)
        A::fragment(f[i], tile_a + A::moved(place_a, i, level));
#pragma unroll
      for (int j = 0; j < 2; ++j) B::fragment(p[j], tile_b + B::moved(place_b, j, level));
#pragma unroll
      for (int i = 0; i < kWarpFilters / 16; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          ptx::mma_16x8x16<T>(sums[i][j], f[i], p[j / 2][j % 2 * 2], p[j / 2][j % 2 * 2 + 1]);
    }
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }

#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int index = first_pixel + col + 8 * j + lane % 4 * 2 + k;
      if (index >= pixels.count) continue;
      const Pixels::At at = pixels.at(index);
#pragma unroll
      for (int i = 0; i < kWarpFilters / 16; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int f = filter + row + 16 * i + lane / 4 + 8 * half;
          if (f >= a.group_filters) continue;
          const int global = group * a.group_filters + f;
          put<T>(a, at.image, global, at.pixel, sums[i][j][2 * half + k] + bias_of<T>(a, global));
        }
    }
}

static int filters_of_block(const Args& a) { return a.group_filters <= 64 ? 64 : 128; }
static int64_t filter_blocks(const Args& a) {
  return a.groups * ceil_div(int64_t(a.group_filters), filters_of_block(a));
}
static Support supports(const Args& a, const DeviceInfo& device) {
  if (a.dtype != Dtype::f16 && a.dtype != Dtype::bf16) return "multiplies f16 and bf16";
  constexpr int64_t kMost = int64_t(1) << 31;
  if (count_pixels(a) >= kMost || a.in_pixels() >= kMost) return "counts fewer than 2^31 pixels";
  if (a.filter_size() + kChunk * int64_t(a.taps()) >= kMost / kDepth)
    return "takes filters of fewer than 2^25 products";
  if (filter_blocks(a) > 65535 || a.groups * ceil_div(int64_t(a.group_channels), kChunk) > 65535)
    return "has at most 65535 blocks of filters and chunks of channels";
  return device.shared_per_block_optin >= kSharedBytes<128> ? kSupported
                                                            : "needs 96 KiB of shared memory";
}
static size_t workspace(const Args& a, const DeviceInfo&) { return packed_bytes(a); }

template <class T, int kFilters>
Status launch_product(const Args& a, const Packed& packed, cudaStream_t stream) {
  constexpr int kBytes = kSharedBytes<kFilters>;
  const auto kernel = conv_tensor_cores<T, kFilters>;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
  const Pixels pixels = pixels_of(a);
  const int64_t taps = a.taps(), chunks = std::max(packed.chunks, 1);
  const Grid grid = {.filter_blocks = int(filter_blocks(a) / a.groups),
                     .by_chunks = Divider(chunks, taps * chunks + 8 * kChunks),
                     .by_width = Divider(a.along[2].kernel, taps + 8 * kChunks),
                     .by_height = Divider(a.along[1].kernel, taps + 8 * kChunks)};
  kernel<<<dim3(unsigned(ceil_div(int64_t(pixels.count), kPixels)), unsigned(filter_blocks(a))),
           kThreads, kBytes, stream>>>(a, packed, pixels, grid);
  return launch_status();
}
template <class T>
Status launch_all(const Args& a, cudaStream_t stream) {
  const Packed packed = packed_of(a);
  repack<T>(a, packed, stream);
  if (const Status s = launch_status(); !s) return s;
  return filters_of_block(a) == 64 ? launch_product<T, 64>(a, packed, stream)
                                   : launch_product<T, 128>(a, packed, stream);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return a.dtype == Dtype::f16 ? launch_all<__half>(a, stream)
                               : launch_all<__nv_bfloat16>(a, stream);
}
static double cost(const Args& a, const DeviceInfo& device) {
  const Packed packed = packed_of(a);
  const double steps = std::ceil(double(a.taps()) * packed.chunks / kChunks);
  const double blocks = std::ceil(double(count_pixels(a)) / kPixels) * double(filter_blocks(a));
  // Clocks of an SM for 64 levels: 2048 products per clock, half of them in practice.
  const double clocks = steps * filters_of_block(a) * kPixels * kDepth / (2048 * 0.5) + 3000;
  const double product = blocks * clocks / (1700.0 * device.sm_count);
  const double copied = packed.has_x ? 0 : 2.0 * 2 * double(packed_x_elements(a));
  const double moved = (bytes(a) + copied) / (kBandwidthShare * device.pin_bandwidth) * 1e6;
  return kLaunchUs * (packed.has_x && packed.has_w ? 1 : 2) + std::max(product, moved);
}
constinit const Rung rung = {.idea = "the implicit product on tensor cores, channels last",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::conv::tensor_cores
