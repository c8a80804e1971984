// conv_backward rung 01, naive: one thread per element of dx, or one warp per element of dw.
//
// Stops at: the load units: every product loads both of its factors. Of dx with a stride, most taps
//   lead to no output at all.
// Not for: anything but reading it.
#include "kernels/conv_backward/gather.cuh"

namespace ridge::conv_backward::naive {

template <class T>
__global__ void __launch_bounds__(kThreads) conv_backward_data_naive(Args a, conv::Boxes boxes) {
  conv::Args inputs = a.at;  // whose outputs are the inputs
  inputs.group_filters = a.at.group_channels;
  const conv::Place place = conv::place_of(inputs, boxes);
  const conv::Pixel in = conv::pixel_of(boxes, place, int(threadIdx.x));
  const conv::Direction* const along = a.at.along;
  if (in.out[0] >= along[0].in || in.out[1] >= along[1].in || in.out[2] >= along[2].in) return;
  const int channel = place.filter - place.group * a.at.group_channels;
  float sum = 0;
  int tap = 0;
  for (int z = 0; z < along[0].kernel; ++z)
    for (int y = 0; y < along[1].kernel; ++y)
      for (int x = 0; x < along[2].kernel; ++x, ++tap) {
        const int out[] = {output_of(along[0], in.out[0], z), output_of(along[1], in.out[1], y),
                           output_of(along[2], in.out[2], x)};
        if (out[0] < 0 || out[1] < 0 || out[2] < 0) continue;
        for (int k = 0; k < a.at.group_filters; ++k) {
          const int f = place.group * a.at.group_filters + k;
          const T* const w = static_cast<const T*>(a.at.w) + f * a.at.filter_size();
          sum += to_float(w[channel * a.at.w_channel + tap * a.at.w_tap]) *
                 to_float(dy_of<T>(a, place.image, f)[offset(a.at.y_steps, out)]);
        }
      }
  static_cast<T*>(a.dx)[place.image * a.at.x_steps.batch + place.filter * a.at.x_steps.channel +
                        offset(a.at.x_steps, in.out)] = from_float<T>(sum);
}

template <class T>
__global__ void __launch_bounds__(kThreads) conv_backward_weights_naive(Args a, int64_t count) {
  const int64_t index = int64_t(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (index >= count) return;
  const int64_t size = a.at.filter_size();
  const int f = int(index / size), of_filter = int(index % size);
  const int channel = of_filter / a.at.taps(), tap = of_filter % a.at.taps();
  const conv::Direction* const along = a.at.along;
  const int row = tap / along[2].kernel;
  const int taps[] = {row / along[1].kernel, row % along[1].kernel, tap % along[2].kernel};
  float sum = 0;
  for (int image = 0; image < a.at.batch; ++image) {
    const T* const dy = dy_of<T>(a, image, f);
    const T* const x =
        conv::image_of<T>(a.at, image, f / a.at.group_filters) + channel * a.at.x_steps.channel;
    for (int i = int(threadIdx.x) % 32; i < int(a.at.pixels()); i += 32) {
      const conv::Pixel p = pixel_at(a, i);
      int in[kDirections];
#pragma unroll
      for (int d = 0; d < kDirections; ++d)
        in[d] = along[d].first(p.out[d]) + taps[d] * along[d].dilation;
      sum +=
          to_float(dy[offset(a.at.y_steps, p.out)]) * conv::input_at(a.at, x, in[0], in[1], in[2]);
    }
  }
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) a.dw[index] = sum;
}

static int64_t weights(const Args& a) { return a.at.filters() * a.at.filter_size(); }
static Support supports(const Args& a, const DeviceInfo&) {
  if (a.weights)
    return weights(a) < int64_t(1) << 33 && a.at.pixels() < int64_t(1) << 31
               ? kSupported
               : "counts fewer than 2^33 weights and 2^31 pixels";
  return conv::supports_boxes(a.at, boxes_of_inputs(a));
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    if (a.weights) {
      constexpr int kWarps = kThreads / 32;
      if (const int64_t count = weights(a))
        conv_backward_weights_naive<T>
            <<<unsigned((count + kWarps - 1) / kWarps), kThreads, 0, stream>>>(a, count);
      launch_bias<T>(a, stream);
    } else {
      const conv::Boxes boxes = boxes_of_inputs(a);
      conv_backward_data_naive<T><<<unsigned(boxes.blocks), kThreads, 0, stream>>>(a, boxes);
    }
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "one thread per input, one warp per weight",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.barriers = 0}};

}  // namespace ridge::conv_backward::naive
