// conv rung 04, dynamic_shared: the launch decides how much shared memory a block has.
//
// Since 03_shared_tile: the tile is as large as this call's halo needs, and holds several channels
//   where there is room for them, so that two barriers serve many products; and halos of any size
//   up to what a block may have are possible.
// Stops at: shared memory, one read per product, and the taps, which every thread loads for itself.
// Not for: few channels per group: a depthwise convolution has only one to load.
#include "kernels/conv/halo.cuh"
#include "kernels/conv/rounds.cuh"

namespace ridge::conv::dynamic_shared {

constexpr Rounds kRounds = {.pixels_per_thread = 1, .filters = 1, .with_filters = false};

template <class T>
__global__ void __launch_bounds__(kThreads)
    conv_dynamic_shared(Args a, Boxes boxes, Halo halo, int channels_per_round) {
  extern __shared__ __align__(16) float tiles[];  // (channels_per_round, halo.size)
  const Place place = place_of(a, boxes);
  const T* const w = static_cast<const T*>(a.w) + place.filter * a.filter_size();
  const T* const image = image_of<T>(a, place.image, place.group);
  const int first = in_halo(a, boxes, halo, int(threadIdx.x));
  float sum = bias_of<T>(a, place.filter);
  for (int from = 0; from < a.group_channels; from += channels_per_round) {
    const int channels = min(channels_per_round, a.group_channels - from);
    for (int c = 0; c < channels; ++c)
      load_halo(a, halo, place, image + (from + c) * a.x_steps.channel, tiles + c * halo.size);
    __syncthreads();
    for (int c = 0; c < channels; ++c)
      for_taps(a, halo, [&](int tap, int offset) {
        sum += to_float(w[(from + c) * a.w_channel + tap * a.w_tap]) *
               tiles[c * halo.size + first + offset];
      });
    __syncthreads();
  }
  const Pixel p = pixel_of(boxes, place, int(threadIdx.x));
  if (is_inside(a, p)) put<T>(a, place.image, place.filter, p, sum);
}

static Support supports(const Args& a, const DeviceInfo& device) {
  return supports_rounds(kRounds, a, device);
}
static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    return launch_rounds(kRounds, a, device, conv_dynamic_shared<decltype(t)>, stream);
  });
}
constinit const Rung rung = {.idea = "a tile as large as the call needs, of several channels",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1}};

}  // namespace ridge::conv::dynamic_shared
