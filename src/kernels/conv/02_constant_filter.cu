// conv rung 02, constant_filter: the filters are in constant memory.
//
// Since 01_naive: all lanes of a warp need the same tap at the same time, which the constant cache
//   gives to all of them at once, as an operand of the product; the load units only bring inputs.
// Stops at: the load units, still: every input comes once per tap and filter.
// Not for: lanes that need different taps, which the constant cache serves one after another, such
//   as one filter per lane; filters beyond 64 KiB; two convolutions at the same time, since there
//   is only one constant memory, which a second stream would overwrite. The library therefore never
//   takes this rung by itself.
#include "kernels/conv/boxes.cuh"

namespace ridge::conv::constant_filter {

constexpr int kConstantBytes = 64 << 10;  // all that there is
__constant__ alignas(16) unsigned char constant_filters[kConstantBytes];

template <class T>
__global__ void __launch_bounds__(kThreads) conv_constant_filter(Args a, Boxes boxes) {
  const Place place = place_of(a, boxes);
  const Pixel p = pixel_of(boxes, place, int(threadIdx.x));
  if (!is_inside(a, p)) return;
  // Under 2^16 elements, so plain ints will do.
  const int first = place.filter * int(a.filter_size());
  float sum = bias_of<T>(a, place.filter);
  for (int c = 0; c < a.group_channels; ++c) {
    const T* const channel = image_of<T>(a, place.image, place.group) + c * a.x_steps.channel;
    int tap = 0;
    for (int z = 0; z < a.along[0].kernel; ++z)
      for (int y = 0; y < a.along[1].kernel; ++y)
        for (int x = 0; x < a.along[2].kernel; ++x, ++tap)
          sum += to_float(reinterpret_cast<const T*>(
                     constant_filters)[first + c * int(a.w_channel) + tap * int(a.w_tap)]) *
                 input_at(a, channel, a.along[0].first(p.out[0]) + z * a.along[0].dilation,
                          a.along[1].first(p.out[1]) + y * a.along[1].dilation,
                          a.along[2].first(p.out[2]) + x * a.along[2].dilation);
  }
  put<T>(a, place.image, place.filter, p, sum);
}

static size_t filter_bytes(const Args& a) {
  return size_t(a.filters()) * size_t(a.filter_size()) * size_of(a.dtype);
}
static Support supports(const Args& a, const DeviceInfo&) {
  if (filter_bytes(a) > kConstantBytes) return "constant memory holds filters of up to 64 KiB";
  return supports_boxes(a, boxes_of(a, 1, 1));
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (const size_t bytes = filter_bytes(a)) {
    const cudaError_t error =
        cudaMemcpyToSymbolAsync(constant_filters, a.w, bytes, 0, cudaMemcpyDeviceToDevice, stream);
    if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
  }
  const Boxes boxes = boxes_of(a, 1, 1);
  return with_float_type(a.dtype, [&](auto t) {
    conv_constant_filter<decltype(t)><<<unsigned(boxes.blocks), kThreads, 0, stream>>>(a, boxes);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "filters in constant memory, one tap for a whole warp",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::conv::constant_filter
