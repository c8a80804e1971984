// conv rung 06, implicit_gemm: a product of matrices, one of which nobody ever stores.
//
// Since 05_register_blocking: filters are the rows of a matrix, all pixels of all images the
//   columns of another one, and (tap, channel) what is summed over. So a block needs no box that
//   suits an image: 64 filters times 128 pixels, wherever they lie. The inputs of 8 channels at one
//   tap are gathered from x while the 8 before are multiplied, in two buffers, with one barrier per
//   step.
// Stops at: f32 multiply-adds, 32 for 6 reads of shared memory.
// Not for: few channels per group, since a step has 8 of them; few filters; 16-bit numbers, which
//   have tensor cores (07). An explicit matrix (im2col), which takes as many times the memory of x
//   as there are taps.
#include <cmath>

#include "kernels/conv/pixels.cuh"
#include "kernels/conv/times.cuh"

namespace ridge::conv::implicit_gemm {

constexpr int kFilters = 64, kPixels = 128, kDepth = 8;  // of a block's step
constexpr int kThreadFilters = 8, kThreadPixels = 4;
constexpr int kGathered = kPixels * kDepth / kThreads;  // inputs per thread
constexpr int kTaken = kFilters * kDepth / kThreads;    // taps per thread
constexpr int kFilterPitch = kFilters + 4;  // so that a warp's taps go to different banks
static_assert(kThreads / 32 * kThreadFilters == kFilters && 32 * kThreadPixels == kPixels);

// A step: 8 channels at one tap.
struct Step {
  int tap[kDirections] = {}, index = 0, channel = 0;

  __device__ __forceinline__ void advance(const Args& a) {
    channel += kDepth;
    if (channel < a.group_channels) return;
    channel = 0;
    ++index;
#pragma unroll
    for (int d = kDirections - 1; d >= 0; --d) {
      if (++tap[d] < a.along[d].kernel) return;
      tap[d] = 0;
    }
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads, 2) conv_implicit_gemm(Args a, Pixels pixels) {
  __shared__ __align__(16) float taps[2][kDepth][kFilterPitch];
  __shared__ __align__(16) float inputs[2][kDepth][kPixels];
  const int per_group = (a.group_filters + kFilters - 1) / kFilters;
  const int group = int(blockIdx.y) / per_group;
  const int filter = int(blockIdx.y) % per_group * kFilters;  // of the group
  const int filters = a.group_filters - filter;
  const int first_pixel = int(blockIdx.x) * kPixels;

  // This thread gathers 4 channels of one pixel, and 2 taps of one filter.
  const int column = int(threadIdx.x) % kPixels, depth = int(threadIdx.x) / kPixels * kGathered;
  const bool has_pixel = first_pixel + column < pixels.count;
  const Pixels::At mine = pixels.at(min(first_pixel + column, pixels.count - 1));
  const T* const image = image_of<T>(a, mine.image, group) + depth * a.x_steps.channel;
  const int row = int(threadIdx.x) / (kDepth / kTaken),
            level = int(threadIdx.x) % (kDepth / kTaken) * kTaken;
  const T* const w = static_cast<const T*>(a.w) +
                     (int64_t(group) * a.group_filters + filter + row) * a.filter_size() +
                     level * a.w_channel;
  float gathered[kGathered], taken[kTaken];
  Step step;
  const auto fetch = [&] {
    int64_t at = step.channel * a.x_steps.channel;
    bool inside = has_pixel;
#pragma unroll
    for (int d = 0; d < kDirections; ++d) {
      const int in = a.along[d].first(mine.pixel.out[d]) + step.tap[d] * a.along[d].dilation;
      inside = inside && unsigned(in) < unsigned(a.along[d].in);
      at += in * a.x_steps.at[d];
    }
#pragma unroll
    for (int i = 0; i < kGathered; ++i)
      gathered[i] = inside && step.channel + depth + i < a.group_channels
                        ? to_float(image[at + i * a.x_steps.channel])
                        : 0.0f;
#pragma unroll
    for (int i = 0; i < kTaken; ++i)
      taken[i] = row < filters && step.channel + level + i < a.group_channels
                     ? to_float(w[(step.channel + i) * a.w_channel + step.index * a.w_tap])
                     : 0.0f;
    step.advance(a);
  };
  const auto keep = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kGathered; ++i) inputs[buffer][depth + i][column] = gathered[i];
#pragma unroll
    for (int i = 0; i < kTaken; ++i) taps[buffer][level + i][row] = taken[i];
  };

  const int lane = int(threadIdx.x) % 32, own = int(threadIdx.x) / 32 * kThreadFilters;
  float sums[kThreadFilters][kThreadPixels] = {};
  const int steps = (a.group_channels + kDepth - 1) / kDepth * a.taps();
  if (steps > 0) {
    fetch();
    keep(0);
  }
  for (int s = 0; s < steps; ++s) {
    const int buffer = s % 2;
    __syncthreads();  // this buffer is full, and the other one was read
    if (s + 1 < steps) fetch();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float x[kThreadPixels];
#pragma unroll
      for (int p = 0; p < kThreadPixels; ++p) x[p] = inputs[buffer][k][lane + 32 * p];
#pragma unroll
      for (int f = 0; f < kThreadFilters; ++f) {
        const float tap = taps[buffer][k][own + f];
#pragma unroll
        for (int p = 0; p < kThreadPixels; ++p) sums[f][p] += tap * x[p];
      }
    }
    if (s + 1 < steps) keep(1 - buffer);
  }
#pragma unroll
  for (int p = 0; p < kThreadPixels; ++p) {
    const int index = first_pixel + lane + 32 * p;
    if (index >= pixels.count) continue;
    const Pixels::At at = pixels.at(index);
#pragma unroll
    for (int f = 0; f < kThreadFilters; ++f) {
      const int global = group * a.group_filters + filter + own + f;
      if (own + f < filters)
        put<T>(a, at.image, global, at.pixel, sums[f][p] + bias_of<T>(a, global));
    }
  }
}

static int64_t filter_blocks(const Args& a) {
  return int64_t(a.groups) * ((a.group_filters + kFilters - 1) / kFilters);
}
static Support supports(const Args& a, const DeviceInfo&) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (count_pixels(a) >= int64_t(1) << 31) return "counts fewer than 2^31 pixels";
  return filter_blocks(a) < 65536 ? kSupported : "has at most 65535 blocks of filters";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Pixels pixels = pixels_of(a);
  const dim3 grid((unsigned(pixels.count) + kPixels - 1) / kPixels, unsigned(filter_blocks(a)));
  return with_float_type(a.dtype, [&](auto t) {
    conv_implicit_gemm<decltype(t)><<<grid, kThreads, 0, stream>>>(a, pixels);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double blocks = std::ceil(double(count_pixels(a)) / kPixels) * double(filter_blocks(a));
  const double steps = double((a.group_channels + kDepth - 1) / kDepth) * a.taps();
  // Instructions of a thread: 8 times 38, and about 70 for the next step.
  return instructions_us(blocks * kThreads * (steps * (kDepth * 38 + 70) + 200), bytes(a), device);
}
constinit const Rung rung = {.idea = "filters times gathered pixels, as a product of matrices",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.global_stores_per_element = 1, .conflict_free = true}};

}  // namespace ridge::conv::implicit_gemm
