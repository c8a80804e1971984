// conv rung 01, naive: one thread computes one output, straight from the definition.
//
// Stops at: the load units. Every product loads its input and its tap again, although the
//   neighbours of a pixel share nearly all of their inputs, and all pixels share the filter.
// Not for: anything but reading it, and shapes that no other rung takes.
#include "kernels/conv/boxes.cuh"

namespace ridge::conv::naive {

template <class T>
__global__ void __launch_bounds__(kThreads) conv_naive(Args a, Boxes boxes) {
  const Place place = place_of(a, boxes);
  const Pixel p = pixel_of(boxes, place, int(threadIdx.x));
  if (!is_inside(a, p)) return;
  const T* const w = static_cast<const T*>(a.w) + place.filter * a.filter_size();
  float sum = bias_of<T>(a, place.filter);
  for (int c = 0; c < a.group_channels; ++c) {
    const T* const channel = image_of<T>(a, place.image, place.group) + c * a.x_steps.channel;
    int tap = 0;
    for (int z = 0; z < a.along[0].kernel; ++z)
      for (int y = 0; y < a.along[1].kernel; ++y)
        for (int x = 0; x < a.along[2].kernel; ++x, ++tap)
          sum += to_float(w[c * a.w_channel + tap * a.w_tap]) *
                 input_at(a, channel, a.along[0].first(p.out[0]) + z * a.along[0].dilation,
                          a.along[1].first(p.out[1]) + y * a.along[1].dilation,
                          a.along[2].first(p.out[2]) + x * a.along[2].dilation);
  }
  put<T>(a, place.image, place.filter, p, sum);
}

static Support supports(const Args& a, const DeviceInfo&) {
  return supports_boxes(a, boxes_of(a, 1, 1));
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const Boxes boxes = boxes_of(a, 1, 1);
  return with_float_type(a.dtype, [&](auto t) {
    conv_naive<decltype(t)><<<unsigned(boxes.blocks), kThreads, 0, stream>>>(a, boxes);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread per output",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::conv::naive
