// conv rung 05, register_blocking: one thread computes 4 pixels of 8 filters.
//
// Since 04_dynamic_shared: an input that was read from shared memory serves 8 filters, and a tap,
//   which is there now, too, serves 4 pixels: 6 reads for 32 products instead of 64. Where a group
//   has few filters, as in a depthwise convolution, a thread has one filter only.
// Stops at: f32 multiply-adds; the halo, which small images repeat for every block; blocks that are
//   larger than the image.
// Not for: small images with many channels, where a box is mostly empty: rung 06 counts the pixels
//   of all images as one row.
#include "kernels/conv/halo.cuh"
#include "kernels/conv/rounds.cuh"
#include "kernels/conv/times.cuh"

namespace ridge::conv::register_blocking {

constexpr int kPixels = 4;  // per thread
constexpr int kManyFilters = 8;

// (channel, tap, filter), so that a thread reads its filters at once.
template <class T, int kFilters>
__device__ __forceinline__ void load_taps(const Args& a, const Place& place, int from, int count,
                                          float* taps) {
  const int all = a.taps();
  for (int f = int(threadIdx.x) / 32; f < kFilters; f += kThreads / 32) {
    const T* const w = static_cast<const T*>(a.w) + (place.filter + f) * a.filter_size();
    for (int i = int(threadIdx.x) % 32; i < count * all; i += 32) {
      const int c = i / all, tap = i - c * all;
      taps[i * kFilters + f] =
          f < place.filters ? to_float(w[(from + c) * a.w_channel + tap * a.w_tap]) : 0.0f;
    }
  }
}

template <class T, int kFilters>
__global__ void __launch_bounds__(kThreads)
    conv_register_blocking(Args a, Boxes boxes, Halo halo, int channels_per_round) {
  extern __shared__ __align__(16) float shared[];
  float* const taps = shared;  // (channels_per_round, taps, kFilters)
  float* const tiles = shared + channels_per_round * a.taps() * kFilters;
  const Place place = place_of(a, boxes);
  const T* const image = image_of<T>(a, place.image, place.group);
  int first[kPixels];
  float sums[kFilters][kPixels];
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    first[p] = in_halo(a, boxes, halo, int(threadIdx.x) + p * kThreads);
#pragma unroll
    for (int f = 0; f < kFilters; ++f)
      sums[f][p] = f < place.filters ? bias_of<T>(a, place.filter + f) : 0.0f;
  }
  for (int from = 0; from < a.group_channels; from += channels_per_round) {
    const int channels = min(channels_per_round, a.group_channels - from);
    load_taps<T, kFilters>(a, place, from, channels, taps);
    for (int c = 0; c < channels; ++c)
      load_halo(a, halo, place, image + (from + c) * a.x_steps.channel, tiles + c * halo.size);
    __syncthreads();
    for (int c = 0; c < channels; ++c) {
      const float* const tile = tiles + c * halo.size;
      const float* const of_channel = taps + c * a.taps() * kFilters;
      for_taps(a, halo, [&](int tap, int offset) {
        float w[kFilters];
#pragma unroll
        for (int f = 0; f < kFilters; ++f) w[f] = of_channel[tap * kFilters + f];
#pragma unroll
        for (int p = 0; p < kPixels; ++p) {
          const float x = tile[first[p] + offset];
#pragma unroll
          for (int f = 0; f < kFilters; ++f) sums[f][p] += w[f] * x;
        }
      });
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    const Pixel pixel = pixel_of(boxes, place, int(threadIdx.x) + p * kThreads);
    if (!is_inside(a, pixel)) continue;
#pragma unroll
    for (int f = 0; f < kFilters; ++f)
      if (f < place.filters) put<T>(a, place.image, place.filter + f, pixel, sums[f][p]);
  }
}

static Rounds rounds_for(const Args& a) {
  return {.pixels_per_thread = kPixels,
          .filters = a.group_filters < kManyFilters / 2 ? 1 : kManyFilters,
          .with_filters = true};
}
static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_rounds(rounds_for(a), a, device);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Rounds rounds = rounds_for(a);
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    if (rounds.filters == 1)
      return launch_rounds(rounds, a, device, conv_register_blocking<T, 1>, stream);
    return launch_rounds(rounds, a, device, conv_register_blocking<T, kManyFilters>, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const Rounds rounds = rounds_for(a);
  const Boxes boxes = rounds.boxes(a);
  // Instructions of a thread: products, the reads for them, and about 20 for each input it loads.
  const double halo = 20.0 * double(halo_size(a, boxes)) / kThreads;
  const double tap = kPixels + rounds.filters / 4.0 + kPixels * rounds.filters + 3;
  const double thread = double(a.group_channels) * (halo + tap * a.taps());
  return instructions_us(double(boxes.blocks) * kThreads * (thread + 100), bytes(a), device);
}
constinit const Rung rung = {.idea = "4 pixels of 8 filters in the registers of a thread",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.global_stores_per_element = 1}};

}  // namespace ridge::conv::register_blocking
