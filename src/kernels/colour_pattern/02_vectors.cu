// colour_pattern rung 02, vectors: sixteen pixels per thread; waves continue by rotation.
//
// Since 01_naive: along a row the phase of a wave grows by a constant, so its sine and cosine turn
//   by a fixed angle: four multiplications instead of a sine. The phase of the rings grows by an
//   angle that itself grows by a constant, so that angle is turned too. Green and blue are the
//   cosine and sine of red, turned by a third. Sixteen pixels are 48 bytes, which are three stores.
// Stops at: arithmetic, about 50 instructions per pixel; HBM is not far.
// Not for: phases that are not a linear or quadratic function of the place: rotation cannot
//   continue them. Long rows of f32 rotations would drift, so a thread starts anew every sixteen
//   pixels.
#include "device/divide.cuh"
#include "device/from_detail.cuh"
#include "kernels/colour_pattern/waves.cuh"
#include "select/select.h"

namespace ridge::colour_pattern::vectors {

constexpr int kThreads = 128;
constexpr int kPixels = 16;  // a thread
constexpr int kWords = kPixels * 3 / 4;
constexpr Tuned kTuned = {3.0, 0.35};

// A point on the unit circle: an angle, ready to be added to another.
struct Turn {
  float cos, sin;
};
__device__ __forceinline__ Turn turn_of(float turns) {
  Turn t;
  sincospif(2 * turns, &t.sin, &t.cos);
  return t;
}
__device__ __forceinline__ Turn operator+(Turn a, Turn b) {
  return {a.cos * b.cos - a.sin * b.sin, a.sin * b.cos + a.cos * b.sin};
}

// The nearest level, in the lowest byte: 2^23 leaves a float no fraction.
__device__ __forceinline__ uint32_t level(float value) {
  return __float_as_uint(value + 8388608.0f);
}

// Pixels before the first at which 48 bytes can be stored as packs: 3 pixels' bytes from there to
// a multiple of 16, and 3 x 11 = 33 is 1 modulo 16.
__device__ __forceinline__ int pixels_to_alignment(const uint8_t* row) {
  return int(reinterpret_cast<uintptr_t>(row) * 5 % kPackBytes);
}

__global__ void __launch_bounds__(kThreads)
    colour_pattern_vectors(Args a, Waves k, Divider slots, Divider height) {
  const int64_t index = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t row = slots.quotient(index), slot = index - row * slots.divisor();
  if (row >= a.frames * a.height) return;
  const int64_t frame = height.quotient(row);
  uint8_t* const out = static_cast<uint8_t*>(a.out) + row * a.stride;  // (width, 3)
  const int64_t head = min(int64_t(pixels_to_alignment(out)), a.width);
  const int64_t x0 = slot == 0 ? 0 : head + (slot - 1) * kPixels;
  const int64_t end = slot == 0 ? head : min(x0 + kPixels, a.width);
  if (x0 >= end) return;

  const float x = float(x0), y = float(row - frame * a.height);
  const float time = float(frame) * k.time;
  const float dx = x - k.middle_x, dy = y - k.middle_y;
  Turn across = turn_of(x * k.across + time);
  Turn diagonal = turn_of((x + y) * k.diagonal + time);
  Turn rings = turn_of((dx * dx + dy * dy) * k.rings - time);
  Turn rings_step = turn_of((2 * dx + 1) * k.rings);
  const Turn across_step = turn_of(k.across), diagonal_step = turn_of(k.diagonal);
  const Turn rings_step_step = turn_of(2 * k.rings);
  const float down = turn_of(y * k.down - time).sin;

  uint32_t words[kWords];
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    const float hue = (across.sin + down + diagonal.sin + rings.sin) / 4 + time;
    const float angle = (hue - rintf(hue)) * 6.2831853f;  // -pi to pi, where __sinf is good
    const float c = 127.5f * __cosf(angle), s = 110.41824f * __sinf(angle);  // 127.5 sqrt(3) / 2
    const uint32_t rgb[3] = {level(127.5f + c), level(127.5f - 0.5f * c - s),
                             level(127.5f - 0.5f * c + s)};
#pragma unroll
    for (int channel = 0; channel < 3; ++channel) {
      const int byte = 3 * i + channel;
      // The new byte into its place among four; the first brings rubbish above it, which goes.
      words[byte / 4] = byte % 4 == 0 ? rgb[channel]
                                      : __byte_perm(words[byte / 4], rgb[channel],
                                                    byte % 4 == 1   ? 0x3240
                                                    : byte % 4 == 2 ? 0x3410
                                                                    : 0x4210);
    }
    across = across + across_step;
    diagonal = diagonal + diagonal_step;
    rings = rings + rings_step;
    rings_step = rings_step + rings_step_step;
  }

  uint8_t* const to = out + x0 * 3;
  if (end - x0 == kPixels && is_pack_aligned(to)) {
#pragma unroll
    for (int p = 0; p < 3; ++p)
      reinterpret_cast<uint4*>(to)[p] =
          make_uint4(words[4 * p], words[4 * p + 1], words[4 * p + 2], words[4 * p + 3]);
  } else {
#pragma unroll
    for (int byte = 0; byte < kPixels * 3; ++byte)
      if (byte < (end - x0) * 3) to[byte] = uint8_t(words[byte / 4] >> (byte % 4 * 8));
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  return a.dtype == Dtype::u8 ? kSupported : "frames are of bytes";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.frames * a.height * a.width == 0) return Status::ok();
  const int64_t slots_per_row = a.width / kPixels + 2;
  const int64_t blocks = (a.frames * a.height * slots_per_row + kThreads - 1) / kThreads;
  colour_pattern_vectors<<<unsigned(blocks), kThreads, 0, stream>>>(
      a, waves_of(a), Divider(slots_per_row, blocks * kThreads),
      Divider(a.height, a.frames * a.height));
  return launch_status();
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 pixels per thread, waves by rotation",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.global_loads_per_element = 0, .barriers = 0}};

}  // namespace ridge::colour_pattern::vectors
