// conv rung 02, constant_filter: the filters are in constant memory.
//
// Since 01_naive: all lanes of a warp need the same tap at the same time, which the constant cache
//   gives to all of them at once, as an operand of the product; the load units only bring inputs.
//   The filters come as an argument of the kernel. A __constant__ array would be one for all
//   streams, and two convolutions at a time would overwrite each other's filters; arguments lie in
//   constant memory, too, and every launch has its own.
// Stops at: the load units, still: every input comes once per tap and filter.
// Not for: lanes that need different taps, which the constant cache serves one after another, such
//   as one filter per lane; filters beyond 31 KiB; a CUDA graph, or filters that the GPU has just
//   made: `launch` waits for the stream, because only the host can give arguments. The library
//   therefore never takes this rung by itself.
#include "kernels/conv/boxes.cuh"

namespace ridge::conv::constant_filter {

constexpr int kMostBytes = 31 << 10;  // arguments are 32764 bytes at most
struct Filters {
  alignas(16) unsigned char bytes[kMostBytes];
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    conv_constant_filter(Args a, Boxes boxes, const __grid_constant__ Filters filters) {
  const Place place = place_of(a, boxes);
  const Pixel p = pixel_of(boxes, place, int(threadIdx.x));
  if (!is_inside(a, p)) return;
  // Under 2^15 elements, so plain ints will do.
  const int first = place.filter * int(a.filter_size());
  float sum = bias_of<T>(a, place.filter);
  for (int c = 0; c < a.group_channels; ++c) {
    const T* const channel = image_of<T>(a, place.image, place.group) + c * a.x_steps.channel;
    int tap = 0;
    for (int z = 0; z < a.along[0].kernel; ++z)
      for (int y = 0; y < a.along[1].kernel; ++y)
        for (int x = 0; x < a.along[2].kernel; ++x, ++tap)
          sum += to_float(reinterpret_cast<const T*>(
                     filters.bytes)[first + c * int(a.w_channel) + tap * int(a.w_tap)]) *
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
  if (filter_bytes(a) > kMostBytes) return "arguments of a kernel hold filters of up to 31 KiB";
  return supports_boxes(a, boxes_of(a, 1, 1));
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  Filters filters = {};
  if (const size_t bytes = filter_bytes(a)) {
    cudaError_t error = cudaMemcpyAsync(filters.bytes, a.w, bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess)
      return Error{int(error),
                   std::string("cannot fetch the filters: ") + cudaGetErrorString(error)};
  }
  const Boxes boxes = boxes_of(a, 1, 1);
  return with_float_type(a.dtype, [&](auto t) {
    conv_constant_filter<decltype(t)>
        <<<unsigned(boxes.blocks), kThreads, 0, stream>>>(a, boxes, filters);
    return launch_status();
  });
}
constinit const Rung rung = {.idea = "filters in constant memory, one tap for a whole warp",
                             .supports = supports,
                             .launch = launch,
                             .claims = {.global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::conv::constant_filter
