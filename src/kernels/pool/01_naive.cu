// pool rung 01, naive: one thread per output; backward, one thread per input.
//
// Stops at: the load units. Windows that overlap load their elements again, and backward every
//   element searches the maximum of each of its windows by itself.
// Not for: large windows that overlap, above all backward.
#include "kernels/pool/window.cuh"
#include "select/select.h"

namespace ridge::pool::naive {

// Not timed on a GPU yet: the share that the model of time gives where windows do not overlap, and
// loads of lanes per microsecond of one SM.
constexpr Tuned kTuned = {4.0, 0.7};
constexpr double kLoadsPerUs = 16000;

template <class T>
__global__ void __launch_bounds__(kThreads) pool_naive(Args a, conv::Boxes boxes) {
  const conv::Place place = conv::place_of(a.at, boxes);
  const conv::Pixel o = conv::pixel_of(boxes, place, int(threadIdx.x));
  if (!conv::is_inside(a.at, o)) return;
  const T* const x = conv::image_of<T>(a.at, place.image, 0);
  const conv::Steps& s = a.at.x_steps;
  const Cut cut(a, o);
  Most most;
  float sum = 0;
  cut.each([&](int z, int y, int col) {
    const float value = to_float(x[z * s.at[0] + y * s.at[1] + col]);
    if (a.mean) sum += value;
    else most.see(value, 0);
  });
  conv::put<T>(a.at, place.image, 0, o, a.mean ? sum / divisor(a, cut) : most.value);
}

template <class T>
__global__ void __launch_bounds__(kThreads) pool_naive_backward(Args a, conv::Boxes boxes) {
  const conv::Place place = conv::place_of(a.at, boxes);
  const conv::Pixel in = conv::pixel_of(boxes, place, int(threadIdx.x));
  if (!is_in(a, in)) return;
  const T* const x = conv::image_of<T>(a.at, place.image, 0);
  const conv::Steps& s = a.at.x_steps;
  const auto index = [&](int z, int y, int col) {
    return (z * a.at.along[1].in + y) * a.at.along[2].in + col;
  };
  const int mine = index(in.out[0], in.out[1], in.out[2]);
  float sum = 0;
  Windows(a, in).each([&](const conv::Pixel& o) {
    const Cut cut(a, o);
    if (a.mean) {
      sum += dy_at<T>(a, place.image, o) / divisor(a, cut);
      return;
    }
    Most most;
    cut.each([&](int z, int y, int col) {
      most.see(to_float(x[z * s.at[0] + y * s.at[1] + col]), index(z, y, col));
    });
    if (most.at == mine) sum += dy_at<T>(a, place.image, o);
  });
  static_cast<T*>(a.dx)[dx_at(a, place.image, in)] = from_float<T>(sum);
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (a.at.in_pixels() >= int64_t(1) << 31) return "takes planes of fewer than 2^31 elements";
  return conv::supports_boxes(a.at, boxes_of(a));
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const conv::Boxes boxes = boxes_of(a);
  return with_float_type(a.dtype, [&](auto t) {
    const auto kernel = a.backward ? pool_naive_backward<decltype(t)> : pool_naive<decltype(t)>;
    kernel<<<unsigned(boxes.blocks), kThreads, 0, stream>>>(a, boxes);
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double windows = double(a.at.batch) * double(a.at.pixels()), taps = a.at.taps();
  const double loads = windows * taps * (a.backward && !a.mean ? taps : 1);
  return streaming_us(kTuned, bytes(a), device) + loads / (kLoadsPerUs * device.sm_count);
}
constinit const Rung rung = {.idea = "one thread per output, or per input backward",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::pool::naive
