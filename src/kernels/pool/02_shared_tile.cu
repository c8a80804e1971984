// pool rung 02, shared_tile: each element is loaded once, and each window searched once.
//
// Since 01_naive: the inputs of a block's windows are in shared memory. Backward, one thread
//   searches the maximum of a window, and all elements of the window find there where it was.
// Stops at: instructions: every element of a window is still looked at, in shared memory.
// Not for: windows that do not overlap, where nothing is shared and the barriers only cost.
#include "kernels/conv/halo.cuh"
#include "kernels/pool/window.cuh"
#include "select/select.h"

namespace ridge::pool::shared_tile {

// Not timed on a GPU yet: the share that the model of time gives, and elements of windows that one
// SM looks at per microsecond.
constexpr Tuned kTuned = {4.0, 0.6};
constexpr double kElementsPerUs = 24000;

// The inputs of a block, and backward its windows.
struct Tile {
  int first_window[kDirections], windows[kDirections];  // in each direction
  int first[kDirections], extent[kDirections];          // inputs

  __device__ __forceinline__ Tile(const Args& a, const conv::Boxes& b, const conv::Place& place) {
#pragma unroll
    for (int d = 0; d < kDirections; ++d) {
      const conv::Direction& along = a.at.along[d];
      const int last = place.out[d] + b.size(d) - 1;  // of the box
      if (a.backward) {
        const int before = place.out[d] + along.padding - along.kernel;
        first_window[d] = before < 0 ? 0 : before / along.stride + 1;
        windows[d] =
            max(min((last + along.padding) / along.stride + 1, along.out) - first_window[d], 0);
      } else {
        first_window[d] = place.out[d];
        windows[d] = b.size(d);
      }
      first[d] = along.first(first_window[d]);
      extent[d] = windows[d] > 0 ? int(along.reach(windows[d])) : 0;
    }
  }
  __device__ __forceinline__ int inputs() const { return extent[0] * extent[1] * extent[2]; }
  __device__ __forceinline__ int count() const { return windows[0] * windows[1] * windows[2]; }
  __device__ __forceinline__ int place(int z, int y, int x) const {
    return ((z - first[0]) * extent[1] + y - first[1]) * extent[2] + x - first[2];
  }
  __device__ __forceinline__ conv::Pixel window(int i) const {
    const int row = i / windows[2], plane = row / windows[1];
    return {{first_window[0] + plane, first_window[1] + row % windows[1],
             first_window[2] + i % windows[2]}};
  }
};

template <class T>
__device__ __forceinline__ void load_tile(const Args& a, const Tile& tile, const T* x, float* to) {
  for (int i = int(threadIdx.x); i < tile.inputs(); i += kThreads) {
    const int row = i / tile.extent[2], plane = row / tile.extent[1];
    to[i] = conv::input_at(a.at, x, tile.first[0] + plane, tile.first[1] + row % tile.extent[1],
                           tile.first[2] + i % tile.extent[2]);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    pool_shared_tile(Args a, conv::Boxes boxes, int most_inputs) {
  extern __shared__ float inputs[];
  const conv::Place place = conv::place_of(a.at, boxes);
  const Tile tile(a, boxes, place);
  const conv::Pixel p = conv::pixel_of(boxes, place, int(threadIdx.x));
  if (!a.backward || !a.mean) {
    load_tile(a, tile, conv::image_of<T>(a.at, place.image, 0), inputs);
    __syncthreads();
  }
  if (!a.backward) {
    if (!conv::is_inside(a.at, p)) return;
    const Cut cut(a, p);
    Most most;
    float sum = 0;
    cut.each([&](int z, int y, int x) {
      const float value = inputs[tile.place(z, y, x)];
      if (a.mean) sum += value;
      else most.see(value, 0);
    });
    conv::put<T>(a.at, place.image, 0, p, a.mean ? sum / divisor(a, cut) : most.value);
    return;
  }
  // What each window gives, and to which input.
  float* const shares = inputs + most_inputs;
  int* const winners = reinterpret_cast<int*>(shares + tile.count());
  for (int i = int(threadIdx.x); i < tile.count(); i += kThreads) {
    const conv::Pixel o = tile.window(i);
    const Cut cut(a, o);
    const float dy = dy_at<T>(a, place.image, o);
    shares[i] = a.mean ? dy / divisor(a, cut) : dy;
    if (a.mean) continue;
    Most most;
    cut.each([&](int z, int y, int x) {
      const int at = tile.place(z, y, x);
      most.see(inputs[at], at);
    });
    winners[i] = most.at;
  }
  __syncthreads();
  if (!is_in(a, p)) return;
  const int mine = tile.place(p.out[0], p.out[1], p.out[2]);
  float sum = 0;
  Windows(a, p).each([&](const conv::Pixel& o) {
    const int i =
        ((o.out[0] - tile.first_window[0]) * tile.windows[1] + o.out[1] - tile.first_window[1]) *
            tile.windows[2] +
        o.out[2] - tile.first_window[2];
    if (a.mean || winners[i] == mine) sum += shares[i];
  });
  static_cast<T*>(a.dx)[dx_at(a, place.image, p)] = from_float<T>(sum);
}

// At most, of any block: inputs, and windows backward.
struct Needs {
  int64_t inputs = 1, windows = 1;
  size_t bytes(const Args& a) const {
    return size_t(inputs + (a.backward ? 2 * windows : 0)) * sizeof(float);
  }
};
static Needs needs_of(const Args& a, const conv::Boxes& b) {
  Needs n;
  for (int d = 0; d < kDirections; ++d) {
    const conv::Direction& along = a.at.along[d];
    const int64_t windows =
        a.backward ? (b.size(d) + along.kernel - 2) / along.stride + 1 : b.size(d);
    n.windows *= windows;
    n.inputs *= (windows - 1) * along.stride + along.kernel;
    if (n.inputs > 1 << 20) break;  // more than any shared memory holds
  }
  if (a.backward && a.mean) n.inputs = 0;
  return n;
}
static Support supports(const Args& a, const DeviceInfo&) {
  const conv::Boxes boxes = boxes_of(a);
  if (needs_of(a, boxes).bytes(a) > 48 << 10) return "windows of a block exceed 48 KiB";
  return conv::supports_boxes(a.at, boxes);
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const conv::Boxes boxes = boxes_of(a);
  const Needs needs = needs_of(a, boxes);
  return with_float_type(a.dtype, [&](auto t) {
    pool_shared_tile<decltype(t)>
        <<<unsigned(boxes.blocks), kThreads, needs.bytes(a), stream>>>(a, boxes, int(needs.inputs));
    return launch_status();
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  const double windows = double(a.at.batch) * double(a.at.pixels()), taps = a.at.taps();
  const double looked_at = windows * taps * (a.backward && !a.mean ? 2 : 1);
  return streaming_us(kTuned, bytes(a), device) + looked_at / (kElementsPerUs * device.sm_count);
}
constinit const Rung rung = {.idea = "inputs in shared memory, each window searched once",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 1}};

}  // namespace ridge::pool::shared_tile
