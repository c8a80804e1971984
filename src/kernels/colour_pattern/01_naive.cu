// colour_pattern rung 01, naive: one thread per pixel, which computes seven sines and cosines.
//
// Stops at: arithmetic, some tens of instructions for each sine; and stores of one byte at a time.
// Not for: any picture: neighbours share their waves, and 02 makes use of that.
#include "kernels/colour_pattern/waves.cuh"

namespace ridge::colour_pattern::naive {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) colour_pattern_naive(Args a, Waves k) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t row = i / a.width;
  if (row >= a.frames * a.height) return;
  const int64_t frame = row / a.height;
  const float x = float(i - row * a.width), y = float(row - frame * a.height);
  const float time = float(frame) * k.time;
  const float dx = x - k.middle_x, dy = y - k.middle_y;
  const float v = sinpif(2 * (x * k.across + time)) + sinpif(2 * (y * k.down - time)) +
                  sinpif(2 * ((x + y) * k.diagonal + time)) +
                  sinpif(2 * ((dx * dx + dy * dy) * k.rings - time));
  uint8_t* pixel = static_cast<uint8_t*>(a.out) + row * a.stride + (i - row * a.width) * 3;
  for (int channel = 0; channel < 3; ++channel)
    pixel[channel] =
        uint8_t(__float2int_rn(127.5f + 127.5f * cospif(2 * (v / 4 + time + channel / 3.0f))));
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::u8 ? kSupported : "frames are of bytes";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  const int64_t pixels = a.frames * a.height * a.width;
  if (pixels == 0) return Status::ok();
  colour_pattern_naive<<<unsigned((pixels + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      a, waves_of(a));
  return launch_status();
}
constinit const Rung rung = {
    .idea = "one thread, one pixel",
    .supports = supports,
    .launch = launch,
    .claims = {.global_loads_per_element = 0, .global_stores_per_element = 1, .barriers = 0}};

}  // namespace ridge::colour_pattern::naive
