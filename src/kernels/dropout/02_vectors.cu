// dropout rung 02, vectors: one call of Philox serves four elements.
//
// Since 01_thread_per_element: each load brings 16 bytes, and all four numbers of a call are used:
//   seven instructions per element instead of twenty-eight.
// Stops at: HBM, with instruction issue close behind in two-byte formats.
// Not for: a mask that must be seen or changed: the mask is not stored, but drawn again.
#include "device/map.cuh"
#include "device/philox.cuh"
#include "kernels/dropout/dropout.h"
#include "select/select.h"

namespace ridge::dropout::vectors {

template <class T>
constexpr int kUnroll = sizeof(T) == 2 ? 4 : 2;  // packs whose loads wait while numbers are drawn
constexpr Tuned kTuned = {2.0, 0.88};

struct Drop {
  Philox stream;
  uint32_t dropped_below;
  float factor;
  int64_t first;

  __device__ float multiplier(uint32_t word) const { return word < dropped_below ? 0 : factor; }

  template <int N>
  __device__ void many(const float (&x)[1][N], float (&y)[1][N], int64_t index) const {
    static_assert(N % 4 == 0);
    // A pack of a misaligned tensor may start inside a block, and then ends inside another.
    index += first;
    const uint64_t block = uint64_t(index) / 4;
    const int phase = int(index % 4);
    uint32_t words[N + 4];
#pragma unroll
    for (int b = 0; b < N / 4; ++b) draw(words + 4 * b, block + b);
    if (phase != 0) {
      draw(words + N, block + N / 4);
      // Down by `phase`, in two steps of known length, so that words stay in registers.
      if (phase & 1) shift<1>(words);
      if (phase & 2) shift<2>(words);
    }
#pragma unroll
    for (int i = 0; i < N; ++i) y[0][i] = x[0][i] * multiplier(words[i]);
  }
  __device__ void operator()(const float (&x)[1], float (&y)[1], int64_t index) const {
    index += first;
    const Random4 random = stream.block(uint64_t(index) / 4);
    const int word = int(index % 4);
    const uint32_t low = word & 1 ? random.at[1] : random.at[0];
    const uint32_t high = word & 1 ? random.at[3] : random.at[2];
    y[0] = x[0] * multiplier(word & 2 ? high : low);
  }

 private:
  __device__ void draw(uint32_t* words, uint64_t block) const {
    const Random4 random = stream.block(block);
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = random.at[i];
  }
  template <int By, int N>
  static __device__ void shift(uint32_t (&words)[N]) {
#pragma unroll
    for (int i = 0; i + By < N; ++i) words[i] = words[i + By];
  }
};

static Support supports(const Args& a, const DeviceInfo&) {
  if (!(a.p >= 0 && a.p <= 1)) return "p is no probability";
  return is_compute_float(a.dtype) ? kSupported : "dropout takes f32, f16 and bf16";
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  const Map<1, 1> m = {{a.x},      {a.out},      {a.x_stride}, {a.out_stride},
                       {a.x_step}, {a.out_step}, a.rows,       a.cols};
  const Drop drop = {Philox(a.seed, a.offset), threshold(a), scale(a), a.first};
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    return launch_map<T, kUnroll<T>>(m, drop, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per load, four elements per call of Philox",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0}};

}  // namespace ridge::dropout::vectors
