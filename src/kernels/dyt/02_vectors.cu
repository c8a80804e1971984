// dyt rung 02, vectors: a thread owns 16 bytes of columns and takes four rows of them.
//
// Since 01_thread_per_element: x and y move 16 bytes at a time, four loads of x are under way in
//   each thread, and gamma and beta are loaded once for four rows.
// Stops at: HBM. Rows that are not at 16-byte boundaries are taken element by element, which is
//   slower but just as right.
// Not for: a tanh that the kernel before could apply on its way: all its traffic would be saved.
#include "device/activations.cuh"
#include "device/convert_pack.cuh"
#include "kernels/dyt/dyt.h"
#include "select/select.h"

namespace ridge::dyt::vectors {

constexpr int kThreads = 256, kRows = 4;
constexpr Tuned kTuned = {2.5, 0.88};

// N elements at once: a pack, or a single one.
template <class T, int N>
__global__ void __launch_bounds__(kThreads) dyt_vectors(Args a) {
  using Part = Pack<T, N>;
  const int64_t c = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * N;
  const int64_t first = int64_t(blockIdx.y) * kRows;
  if (c >= a.cols) return;
  Part x[kRows];
#pragma unroll
  for (int k = 0; k < kRows; ++k)
    if (first + k < a.rows)
      x[k] =
          *reinterpret_cast<const Part*>(static_cast<const T*>(a.x) + (first + k) * a.x_stride + c);
  float gamma[N], beta[N];
  to_floats(*reinterpret_cast<const Part*>(static_cast<const T*>(a.gamma) + c), gamma);
  to_floats(*reinterpret_cast<const Part*>(static_cast<const T*>(a.beta) + c), beta);
  const float alpha = *a.alpha;
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
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

static Support supports(const Args& a, const DeviceInfo&) {
  return is_compute_float(a.dtype) ? kSupported : "takes f32, f16 and bf16";
}

template <class T, int N>
static Status launch_parts(const Args& a, cudaStream_t stream) {
  constexpr int64_t kMostBlocks = 65535;  // in y
  const int64_t tiles = (a.cols / N + kThreads - 1) / kThreads;
  for (int64_t row = 0; row < a.rows; row += kMostBlocks * kRows) {
    Args part = a;
    part.x = static_cast<const T*>(a.x) + row * a.x_stride;
    part.y = static_cast<T*>(a.y) + row * a.y_stride;
    part.rows = std::min(a.rows - row, kMostBlocks * kRows);
    const dim3 grid(unsigned(tiles), unsigned((part.rows + kRows - 1) / kRows));
    dyt_vectors<T, N><<<grid, kThreads, 0, stream>>>(part);
  }
  return launch_status();
}

template <class T>
static bool lies_in_packs(const Args& a) {
  const auto aligned = [](const void* p) { return is_pack_aligned(static_cast<const T*>(p)); };
  return a.cols % kPackSize<T> == 0 && a.x_stride % kPackSize<T> == 0 &&
         a.y_stride % kPackSize<T> == 0 && aligned(a.x) && aligned(a.y) && aligned(a.gamma) &&
         aligned(a.beta);
}

static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.rows * a.cols == 0) return Status::ok();
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    return lies_in_packs<T>(a) ? launch_parts<T, kPackSize<T>>(a, stream)
                               : launch_parts<T, 1>(a, stream);
  });
}
static double cost(const Args& a, const DeviceInfo& device) {
  return streaming_us(kTuned, bytes(a), device);
}
constinit const Rung rung = {.idea = "16 bytes of columns per thread, four rows of them",
                             .supports = supports,
                             .launch = launch,
                             .cost = cost,
                             .claims = {.barriers = 0, .conflict_free = true}};

}  // namespace ridge::dyt::vectors
