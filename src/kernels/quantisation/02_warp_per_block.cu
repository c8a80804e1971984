// quantisation rung 02, warp_per_block: the lanes of a warp share a block of up to 128 elements and
// find its maximum by shuffles.
//
// Since 01_thread_per_element: a lane keeps its elements in registers until the scale is known, so
//   x is read once, in one launch, without atomics and without memory for the maxima. Only the
//   scales of scales (nf4_double) and the scale of a tensor (nvfp4) take more launches.
// Stops at: the conversions, whose format is looked up for every element; 4 or 8 bytes per load.
// Not for: blocks of a whole row, column, tensor or square, which are larger than a warp holds.
#include "kernels/quantisation/any_format.cuh"
#include "kernels/quantisation/levels.cuh"

namespace ridge::quantisation::warp_per_block {

constexpr int kThreads = 256;
constexpr int kMostPairs = 2;  // of a lane: 128 elements in all

// The largest magnitude of the tensor, for nvfp4.
__global__ void __launch_bounds__(kThreads) maxima_by_warps(Args a, Maxima m, int lanes) {
  const int64_t block = (int64_t(blockIdx.x) * kThreads + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  uint32_t bits = 0;
  const int64_t r = block / a.blocks.across, c = block % a.blocks.across * a.blocks.block_cols;
  for (int i = lane; i < a.blocks.block_cols && c + i < a.cols && r < a.rows; i += lanes)
    bits = max(bits, magnitude_bits(load_x(a, r, c + i)));
  bits = lanes_max_bits(bits, lanes);
  if (lane == 0 && bits && bits < kInfinityBits) atomicMax(m.tensor, bits);
}

// `lanes` lanes per block; each takes pairs of neighbours.
__global__ void __launch_bounds__(kThreads) quantise_blocks(Args a, Maxima m, int lanes) {
  const int64_t block = (int64_t(blockIdx.x) * kThreads + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  const int64_t r = block / a.blocks.across, c = block % a.blocks.across * a.blocks.block_cols;
  const int64_t width = r < a.rows ? min(a.cols - c, a.blocks.block_cols) : 0;
  float x[kMostPairs][2];
  uint32_t bits = 0;
#pragma unroll
  for (int p = 0; p < kMostPairs; ++p)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int i = 2 * (lane + p * lanes) + e;
      x[p][e] = i < width ? load_x(a, r, c + i) : 0;
      bits = max(bits, magnitude_bits(x[p][e]));
    }
  bits = lanes_max_bits(bits, lanes);
  float tensor_scale = 0;
  if (a.rule == Rule::shared) {
    tensor_scale = a.is_given ? a.second[0] : tensor_scale_of(a, __uint_as_float(m.tensor[0]));
    if (block == 0 && lane == 0 && !a.is_given) a.second[0] = tensor_scale;
  }
  const bool stores = lane == 0 && width > 0;
  const float scale = make_scale(a, block, amax_of(bits), tensor_scale, stores);
  if (a.rule == Rule::mean && stores) m.blocks[block] = bits;
  auto* const q = static_cast<uint8_t*>(a.q);
#pragma unroll
  for (int p = 0; p < kMostPairs; ++p) {
    const int i = 2 * (lane + p * lanes);
    if (i >= width) continue;
    const int64_t at = r * a.cols + c + i;
    const uint32_t low = encoded(a.element, x[p][0], scale);
    const uint32_t high = i + 1 < width ? encoded(a.element, x[p][1], scale) : 0;
    if (elements_per_byte(a) == 2) {
      q[at / 2] = uint8_t(low | high << 4);
    } else {
      q[at] = uint8_t(low);
      if (i + 1 < width) q[at + 1] = uint8_t(high);
    }
  }
}

static int lanes_for(const Args& a) { return int(std::min<int64_t>(a.blocks.block_cols / 2, 32)); }
static Support supports(const Args& a, const DeviceInfo&) {
  if (a.back) return "quantises only";
  const int64_t size = a.blocks.block_cols;
  const bool is_power = size >= 16 && (size & (size - 1)) == 0;
  if (a.blocks.block_rows != 1 || !is_power || size > 2 * kWarpSize * kMostPairs || a.is_whole)
    return "works on blocks of 16 to 128 elements of a row";
  return a.blocks.count < int64_t(1) << 31 ? kSupported : "counts blocks up to 2^31";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return launch_empty(a, stream);
  const int lanes = lanes_for(a);
  const auto grid = unsigned((a.blocks.count * lanes + kThreads - 1) / kThreads);
  if (a.rule == Rule::shared && !a.is_given) {
    if (const Status s = clear_maxima(a, false, stream); !s) return s;
    maxima_by_warps<<<grid, kThreads, 0, stream>>>(a, maxima_in(a), lanes);
  }
  quantise_blocks<<<grid, kThreads, 0, stream>>>(a, maxima_in(a), lanes);
  if (a.rule == Rule::mean) launch_around_mean(a, stream);
  return launch_status();
}
static size_t workspace(const Args& a, const DeviceInfo&) { return levels_bytes(a); }
constinit const Rung rung = {.idea = "a warp keeps a block in registers: x is read once",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::quantisation::warp_per_block
