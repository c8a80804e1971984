// normalize rung 01, two_passes: reads everything for the norm, then everything again to scale it.
//
// Stops at: bytes in flight: each load brings one element per thread. Also at the second read.
// Not for: anything but learning: it reads everything twice.
//
// A row has one block. A vector has many blocks, which add to one word of memory, and one launch
// per pass.
#include "kernels/normalize/scale.cuh"

namespace ridge::normalize::two_passes {

constexpr int kThreads = 256;

template <class Norm, class T>
__global__ void __launch_bounds__(kThreads) normalize_two_passes(Norm norm, Args a) {
  const T* x = static_cast<const T*>(a.x) + blockIdx.x * a.x_stride;
  T* out = static_cast<T*>(a.out) + blockIdx.x * a.out_stride;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < a.cols; i += kThreads) sum += norm.transform(to_float(x[i]));
  sum = reduction::block_combine_for_all<kThreads>(norm, sum);
  const Divide scale(a, norm.finish(sum));
  for (int64_t i = threadIdx.x; i < a.cols; i += kThreads)
    out[i] = from_float<T>(scale(to_float(x[i])));
}

__global__ void clear(float* sum) { *sum = 0; }
template <class T>
__global__ void __launch_bounds__(kThreads) add_squares(Args a, float* sum) {
  const reduction::NormL2<float> norm;
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const float square = i < a.cols ? norm.transform(to_float(static_cast<const T*>(a.x)[i])) : 0;
  const float total = reduction::block_combine<kThreads>(norm, square);
  if (threadIdx.x == 0) atomicAdd(sum, total);
}
__global__ void put_norm(Args a, const float* sum) { *a.norm = sqrtf(*sum); }
template <class T>
__global__ void __launch_bounds__(kThreads) scale_elements(Args a) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.cols) return;
  const Clip scale(a, *a.norm);
  static_cast<T*>(a.out)[i] = from_float<T>(scale(to_float(static_cast<const T*>(a.x)[i])));
}

static size_t workspace(const Args& a, const DeviceInfo&) {
  return a.kind == Kind::clip ? sizeof(float) : 0;
}
static Status launch(const Args& a, const DeviceInfo&, cudaStream_t stream) {
  if (a.kind != Kind::clip) {
    if (a.rows * a.cols == 0) return Status::ok();
    return with_norm(a, [&](auto norm, auto t) {
      normalize_two_passes<decltype(norm), decltype(t)>
          <<<unsigned(a.rows), kThreads, 0, stream>>>(norm, a);
      return launch_status();
    });
  }
  const unsigned blocks = unsigned((a.cols + kThreads - 1) / kThreads);
  float* const sum = static_cast<float*>(a.workspace);
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    clear<<<1, 1, 0, stream>>>(sum);
    if (blocks > 0) add_squares<T><<<blocks, kThreads, 0, stream>>>(a, sum);
    put_norm<<<1, 1, 0, stream>>>(a, sum);
    if (blocks > 0) scale_elements<T><<<blocks, kThreads, 0, stream>>>(a);
    return launch_status();
  });
}
constinit const Rung rung = {
    .idea = "the norm first, then everything again",
    .supports = supports_all,
    .launch = launch,
    .workspace = workspace,
    .claims = {.global_loads_per_element = 2, .global_stores_per_element = 1, .barriers = 1}};

}  // namespace ridge::normalize::two_passes
