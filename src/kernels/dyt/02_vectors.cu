// dyt rung 02, vectors: a thread takes 16 bytes of columns at once.
//
// Since 01_thread_per_element: x, y, gamma and beta move 16 bytes at a time. Backward, each slice
//   of the rows has its own blocks, whose warps take rows in turn; the partial sums are added at
//   the end.
// Stops at: HBM. Rows that are not at 16-byte boundaries are taken element by element, eight rows
//   per thread, at three quarters of that speed.
// Not for: a tanh that the previous kernel could apply itself: that would save all of this traffic.
#include "device/activations.cuh"
#include "device/convert_pack.cuh"
#include "kernels/dyt/sums.cuh"
#include "select/select.h"

namespace ridge::dyt::vectors {

constexpr int kThreads = 256;
// Rows that a thread takes forward: with packs one is fastest on an H200, element by element eight
// (bf16 65536 x 4096: 94 % of the roof with one, 81 % with four).
template <int N>
constexpr int kRows = N > 1 ? 1 : 8;
constexpr Tuned kTuned = {2.5, 0.85};

// N elements at once: a pack, or a single one.
template <class T, int N>
__global__ void __launch_bounds__(kThreads) dyt_vectors(Args a) {
  using Part = Pack<T, N>;
  const int64_t c = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * N;
  const int64_t first = int64_t(blockIdx.y) * kRows<N>;
  if (c >= a.cols) return;
  Part x[kRows<N>];
#pragma unroll
  for (int k = 0; k < kRows<N>; ++k)
    if (first + k < a.rows)
      x[k] =
          *reinterpret_cast<const Part*>(static_cast<const T*>(a.x) + (first + k) * a.x_stride + c);
  float gamma[N], beta[N];
  to_floats(*reinterpret_cast<const Part*>(static_cast<const T*>(a.gamma) + c), gamma);
  to_floats(*reinterpret_cast<const Part*>(static_cast<const T*>(a.beta) + c), beta);
  const float alpha = *a.alpha;
#pragma unroll
  for (int k = 0; k < kRows<N>; ++k) {
    if (first + k >= a.rows) return;
    float y[N];
    to_floats(x[k], y);
#pragma unroll
    for (int i = 0; i < N; ++i)
      y[i] = gamma[i] * activations::Tanh<T>::value(alpha * y[i]) + beta[i];
    *reinterpret_cast<Part*>(static_cast<T*>(a.y) + (first + k) * a.y_stride + c) =
        from_floats<T>(y);
  }
}

constexpr int kWarps = 8, kInFlight = 2, kBlocksPerSm = 4;

// A warp walks down 32 parts of N columns, every kWarps-th row of the block's slice.
template <class T, int N>
__global__ void __launch_bounds__(kWarps* kWarpSize)
    dyt_backward_vectors(Args a, Partials partials, int64_t rows_per_slice) {
  using Part = Pack<T, N>;
  __shared__ float shared[kWarps][2][N][kWarpSize];
  __shared__ float of_warps[kWarps];
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  const int64_t c = (int64_t(blockIdx.x) * kWarpSize + lane) * N;
  const int64_t end = min(a.rows, (blockIdx.y + 1) * rows_per_slice);
  const bool inside = c < a.cols;
  const float alpha = *a.alpha;
  const auto at = [&](const void* base, int64_t stride, int64_t r) {
    return reinterpret_cast<const Part*>(static_cast<const T*>(base) + r * stride + c);
  };
  Sums sums[N];
  float gamma[N] = {};
  if (inside) to_floats(*at(a.gamma, 0, 0), gamma);
  for (int64_t r = blockIdx.y * rows_per_slice + warp; inside && r < end; r += kWarps * kInFlight) {
    Part x[kInFlight], dy[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (r + k * kWarps < end) {
        x[k] = *at(a.x, a.x_stride, r + k * kWarps);
        dy[k] = *at(a.dy, a.dy_stride, r + k * kWarps);
      }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (r + k * kWarps >= end) break;
      float from[N], grad[N];
      to_floats(x[k], from);
      to_floats(dy[k], grad);
#pragma unroll
      for (int i = 0; i < N; ++i) grad[i] = sums[i].add(from[i], grad[i], gamma[i], alpha);
      *const_cast<Part*>(at(a.dx, a.dx_stride, r + k * kWarps)) = from_floats<T>(grad);
    }
  }

  float dalpha = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    shared[warp][0][i][lane] = sums[i].dgamma;
    shared[warp][1][i][lane] = sums[i].dbeta;
    dalpha += sums[i].dalpha;
  }
  dalpha = lanes_sum(dalpha, kWarpSize);
  if (lane == 0) of_warps[warp] = dalpha;
  __syncthreads();
  // A warp adds up one or several of the 2 N kinds of sums, of all warps.
  for (int kind = warp; inside && kind < 2 * N; kind += kWarps) {
    float sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += shared[w][kind / N][kind % N][lane];
    float* const to = kind < N ? partials.dgamma : partials.dbeta;
    to[blockIdx.y * a.cols + c + kind % N] = sum;
  }
  if (threadIdx.x > 0) return;
  float sum = 0;
  for (const float part : of_warps) sum += part;
  partials.dalpha[int64_t(blockIdx.y) * gridDim.x + blockIdx.x] = sum;
}

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "takes f32, f16 and bf16";
}

template <class T>
static bool lies_in_packs(const Args& a) {
  const auto aligned = [](const void* p) { return is_pack_aligned(static_cast<const T*>(p)); };
  const int64_t strides = a.x_stride | a.y_stride | a.dy_stride | a.dx_stride;  // packs: 2^k
  return (a.cols | strides) % kPackSize<T> == 0 && aligned(a.x) && aligned(a.gamma) &&
         aligned(a.beta) && aligned(a.y) && aligned(a.dy) && aligned(a.dx);
}
static int elements_at_once(const Args& a) {
  return with_float_type(
      a.dtype, [&](auto t) { return lies_in_packs<decltype(t)>(a) ? kPackSize<decltype(t)> : 1; });
}

template <class T, int N>
static Status launch_parts(const Args& a, cudaStream_t stream) {
  constexpr int64_t kMostBlocks = 65535;  // in y
  const int64_t tiles = (a.cols / N + kThreads - 1) / kThreads;
  for (int64_t row = 0; row < a.rows; row += kMostBlocks * kRows<N>) {
    Args part = a;
    part.x = static_cast<const T*>(a.x) + row * a.x_stride;
    part.y = static_cast<T*>(a.y) + row * a.y_stride;
    part.rows = std::min(a.rows - row, kMostBlocks * kRows<N>);
    const dim3 grid(unsigned(tiles), unsigned((part.rows + kRows<N> - 1) / kRows<N>));
    dyt_vectors<T, N><<<grid, kThreads, 0, stream>>>(part);
  }
  return launch_status();
}

// How the rows are shared out backward: enough slices to fill the GPU, of whole turns of a block.
struct Slices {
  int64_t tiles, rows, count;
  Slices(const Args& a, const DeviceInfo& device, int n) {
    constexpr int64_t kTurn = kWarps * kInFlight;
    tiles = std::max<int64_t>((a.cols + int64_t(n) * kWarpSize - 1) / (int64_t(n) * kWarpSize), 1);
    const int64_t wanted = std::max<int64_t>(int64_t(device.sm_count) * kBlocksPerSm / tiles, 1);
    rows = std::max<int64_t>(((a.rows + wanted - 1) / wanted + kTurn - 1) / kTurn * kTurn, kTurn);
    count = std::max<int64_t>((a.rows + rows - 1) / rows, 1);
  }
};
static Partials partials_of(const Args& a, const Slices& slices) {
  return Partials(a, slices.count, slices.tiles * slices.count);
}

template <class T, int N>
static Status launch_backward(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  const Slices slices(a, device, N);
  const Partials partials = partials_of(a, slices);
  dyt_backward_vectors<T, N>
      <<<dim3(unsigned(slices.tiles), unsigned(slices.count)), kWarps * kWarpSize, 0, stream>>>(
          a, partials, slices.rows);
  return add_partials(a, partials, stream);
}

static Status launch(const Args& a, const DeviceInfo& device, cudaStream_t stream) {
  if (!a.backward && a.rows * a.cols == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    if (a.backward)
      return lies_in_packs<T>(a) ? launch_backward<T, kPackSize<T>>(a, device, stream)
                                 : launch_backward<T, 1>(a, device, stream);
    return lies_in_packs<T>(a) ? launch_parts<T, kPackSize<T>>(a, stream)
                               : launch_parts<T, 1>(a, stream);
  });
}
static size_t workspace(const Args& a, const DeviceInfo& device) {
  if (!a.backward) return 0;
  return partials_of(a, Slices(a, device, elements_at_once(a))).bytes();
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes per thread; slices of the rows for the sums",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .cost = cost,
                             .claims = {.barriers = 0, .conflict_free = true}};

}  // namespace ridge::dyt::vectors
