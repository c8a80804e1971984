// quantisation rung 07, hardware_fp8: one instruction converts two numbers to fp8.
//
// Since 06_one_stream: 03, 04 and 06 round fp8 in a dozen instructions per element; GPUs from
//   compute capability 8.9 on have one for two elements. This unit is compiled for Hopper.
// Stops at: HBM. Loads, the maximum, the division and the addresses are what is left.
// Not for: other formats: i8 takes two instructions anyhow, and Hopper has none for e2m1.
#include "device/ptx/fp8.cuh"
#include "kernels/quantisation/held.cuh"
#include "kernels/quantisation/stream.cuh"
#include "select/select.h"

namespace ridge::quantisation::hardware_fp8 {

constexpr Tuned kTuned = {4.0, 0.88};  // not measured yet: as other streams of one read, one write

template <Dtype E>
struct Hardware {
  static constexpr Dtype kElement = E;
  static constexpr int kUnit = 90;
  template <int N>
  __device__ __forceinline__ PackedWord<E, N> encoded(const float (&x)[N]) const {
    uint32_t words[N / 4];
#pragma unroll
    for (int i = 0; i < N / 4; ++i)
      words[i] = ptx::narrow_pair<E>(x[4 * i], x[4 * i + 1]) |
                 ptx::narrow_pair<E>(x[4 * i + 2], x[4 * i + 3]) << 16;
    if constexpr (N == 8) return words[0] | PackedWord<E, N>(words[1]) << 32;
    else return words[0];
  }
};

static bool is_in_rows(const Args& a) {
  return a.is_whole || packs::holds_blocks(a, packs::pack_size_of(a));
}
static Support supports(const Args& a, const DeviceInfo& device) {
  if (device.major != 9) return "compiled for Hopper";
  if (a.back || (a.element != Dtype::e4m3 && a.element != Dtype::e5m2)) return "quantises to fp8";
  if (!is_in_rows(a)) return held::supports(a);
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  return a.rows * a.cols < int64_t(1) << 40 ? kSupported : "counts elements up to 2^40";
}
template <Dtype E>
static Status launched(const Args& a, cudaStream_t stream) {
  return with_float_type(a.dtype, [&](auto t) {
    if (stream::supports_quantise(a))
      return stream::launch_quantise<decltype(t), Hardware<E>>(a, stream);
    return is_in_rows(a) ? packs::launch_quantise<decltype(t), Hardware<E>>(a, stream)
                         : held::launch_quantise<decltype(t), Hardware<E>>(a, stream);
  });
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows == 0 || a.cols == 0) return launch_empty(a, stream);
  return a.element == Dtype::e4m3 ? launched<Dtype::e4m3>(a, stream)
                                  : launched<Dtype::e5m2>(a, stream);
}
static size_t workspace(const Args& a, const DeviceInfo&) { return levels_bytes(a); }
static double cost(const Args& a, const DeviceInfo& device) {
  const bool twice = a.is_whole && !a.is_given;
  const double again = twice ? double(a.rows) * double(a.cols) * double(size_of(a.dtype)) : 0;
  return streaming_us(kTuned, bytes(a) + again, device);
}
constinit const Rung rung = {.idea = "one instruction converts two numbers to fp8",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::quantisation::hardware_fp8
