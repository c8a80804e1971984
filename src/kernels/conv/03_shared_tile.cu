// conv rung 03, shared_tile: a box of inputs with its halo is in shared memory.
//
// Since 02_constant_filter: neighbouring pixels share inputs, so a block loads each input of its
//   box once per channel and not once per tap; 3 x 3 taps need 1.3 loads from global memory, not 9.
//   The filter is back in global memory, where L1 serves it, so that it may be of any size.
// Stops at: two barriers for each channel, with little work between them; and shared memory, one
//   read per product.
// Not for: kernels of 1 x 1, which share nothing; halos much larger than the box, as with large
//   dilations: then most of what is loaded is used once or never.
#include "kernels/conv/halo.cuh"

namespace ridge::conv::shared_tile {

constexpr int kMostInputs = 8192;  // 32 KiB: two blocks per SM everywhere

template <class T>
__global__ void __launch_bounds__(kThreads) conv_shared_tile(Args a, Boxes boxes, Halo halo) {
  __shared__ float tile[kMostInputs];
  const Place place = place_of(a, boxes);
  const T* const w = static_cast<const T*>(a.w) + place.filter * a.filter_size();
  const int first = in_halo(a, boxes, halo, int(threadIdx.x));
  float sum = bias_of<T>(a, place.filter);
  for (int c = 0; c < a.group_channels; ++c) {
    load_halo(a, halo, place, image_of<T>(a, place.image, place.group) + c * a.x_steps.channel,
              tile);
    __syncthreads();
    for_taps(a, halo, [&](int tap, int offset) {
      sum += to_float(w[c * a.w_channel + tap * a.w_tap]) * tile[first + offset];
    });
    __syncthreads();
  }
  const Pixel p = pixel_of(boxes, place, int(threadIdx.x));
  if (is_inside(a, p)) put<T>(a, place.image, place.filter, p, sum);
}

static Support supports(const Args& a, const DeviceInfo&) {
  const Boxes boxes = boxes_of(a, 1, 1);
  if (halo_size(a, boxes) > kMostInputs) return "a box with its halo has more than 8192 inputs";
  return supports_boxes(a, boxes);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Boxes boxes = boxes_of(a, 1, 1);
  const Halo halo = halo_of(a, boxes);
  return with_float_type(a.dtype, [&](auto t) {
    conv_shared_tile<decltype(t)><<<unsigned(boxes.blocks), kThreads, 0, stream>>>(a, boxes, halo);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "a box of inputs with its halo in shared memory",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1}};

}  // namespace ridge::conv::shared_tile
