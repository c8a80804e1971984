// How many channels a block of rungs 04 and 05 brings to shared memory at once, and their launch.
#pragma once

#include "kernels/conv/halo.cuh"

namespace ridge::conv {

struct Rounds {
  int pixels_per_thread, filters;  // of a block
  bool with_filters;               // the taps are in shared memory, too

  Boxes boxes(const Args& a) const { return boxes_of(a, pixels_per_thread, filters); }
  int64_t floats_per_channel(const Args& a) const {
    return halo_size(a, boxes(a)) + (with_filters ? int64_t(a.taps()) * filters : 0);
  }
};

// Where it helps, more channels than one, up to 32 KiB: several blocks then share an SM.
constexpr int64_t kUsualFloats = 8192;

inline int channels_per_round(const Rounds& r, const Args& a) {
  const int64_t fit = kUsualFloats / r.floats_per_channel(a);
  return int(std::clamp<int64_t>(fit, 1, std::max(a.group_channels, 1)));
}

inline Support supports_rounds(const Rounds& r, const Args& a, const DeviceInfo& device) {
  if (a.taps() > 1 << 20 ||
      r.floats_per_channel(a) * int64_t(sizeof(float)) > device.shared_per_block_optin)
    return "a box with its halo does not fit the shared memory of a block";
  return supports_boxes(a, r.boxes(a));
}

// For kernels of (Args, Boxes, Halo, channels per round).
template <class Kernel>
Status launch_rounds(const Rounds& r, const Args& a, const DeviceInfo&, Kernel* kernel,
                     cudaStream_t stream) {
  const Boxes boxes = r.boxes(a);
  const int channels = channels_per_round(r, a);
  const size_t bytes = size_t(channels) * size_t(r.floats_per_channel(a)) * sizeof(float);
  if (bytes > 48 << 10) {  // more than every kernel may have unasked
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
    if (error != cudaSuccess) return Error{int(error), cudaGetErrorString(error)};
  }
  kernel<<<unsigned(boxes.blocks), kThreads, bytes, stream>>>(a, boxes, halo_of(a, boxes),
                                                              channels);
  return launch_status();
}

}  // namespace ridge::conv
