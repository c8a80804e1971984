// linear_cross_entropy rung 01, recomputed: every logit is made again wherever it is needed.
//
// Stops at: arithmetic without tensor cores, five products instead of three: the logits are made
//   once for the losses and once for each gradient. The lanes of a load of `weight` are one row
//   apart.
// Not for: anything but reading, and checking the others: it stores nothing but one number per row.
#include "kernels/linear_cross_entropy/around.cuh"

namespace ridge::linear_cross_entropy::recomputed {

using cross_entropy::Statistics, cross_entropy::Target;
constexpr int kThreads = 256;
constexpr int64_t kMostDim = 8192;  // a gradient's row is added up in shared memory

template <class T>
__device__ __forceinline__ float logit(const Args& a, int64_t row, int64_t col) {
  const T* const hidden = static_cast<const T*>(a.hidden) + row * a.hidden_stride;
  const T* const weight = static_cast<const T*>(a.weight) + col * a.weight_stride;
  float sum = 0;
  for (int64_t d = 0; d < a.dim; ++d) sum = fmaf(to_float(hidden[d]), to_float(weight[d]), sum);
  return sum;
}

// One block per row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    linear_cross_entropy_losses(Args a, float* losses, float* lse) {
  __shared__ float4 partials[kWarpSize];
  const int64_t r = blockIdx.x;
  const Target target(a.rows, r);
  Statistics s;
  const float target_logit = target.is_ignored ? 0 : logit<T>(a, r, target.column);
  if (!target.is_ignored)
    for (int64_t c = threadIdx.x; c < a.rows.cols; c += kThreads) {
      const float x = logit<T>(a, r, c);
      s.add(x);
      s.total += x - target_logit;
    }
  s = cross_entropy::warps_merge(cross_entropy::lanes_merge(s), partials);
  if (threadIdx.x > 0) return;
  const float log_sum = logf(s.sum), distance = s.max - target_logit;
  const float loss = distance + log_sum - a.rows.smoothing * (s.total / float(a.rows.cols));
  losses[r] = target.is_ignored ? 0 : target.is_inside ? loss : NAN;
  lse[r] = s.max + log_sum;
}

// One block per row of a gradient: of hidden, which adds up rows of weight, or of weight, which
// adds up rows of hidden. Each row is weighted with the gradient of the logit that it meets.
template <class T, bool kOfWeight>
__global__ void __launch_bounds__(kThreads)
    linear_cross_entropy_gradient(Args a, const float* lse, const float* scale) {
  extern __shared__ float sums[];  // (dim)
  __shared__ float gradients[kThreads];
  const int64_t mine = blockIdx.x, others = kOfWeight ? a.rows.rows : a.rows.cols;
  for (int64_t d = threadIdx.x; d < a.dim; d += kThreads) sums[d] = 0;
  for (int64_t first = 0; first < others; first += kThreads) {
    const int64_t other = first + threadIdx.x;
    float g = 0;
    if (other < others) {
      const int64_t r = kOfWeight ? other : mine, c = kOfWeight ? mine : other;
      const Target target(a.rows, r);
      if (!target.is_ignored)
        g = expf(logit<T>(a, r, c) - lse[r]) - a.rows.smoothing / float(a.rows.cols) -
            (c == target.column ? 1 - a.rows.smoothing : 0);
      if (!target.is_ignored && !target.is_inside) g = NAN;
      g *= target.is_ignored ? 0 : *scale;
    }
    __syncthreads();  // nobody reads the ones before any more
    gradients[threadIdx.x] = g;
    __syncthreads();
    const int count = int(min(int64_t(kThreads), others - first));
    for (int64_t d = threadIdx.x; d < a.dim; d += kThreads) {
      float sum = sums[d];
      for (int i = 0; i < count; ++i) {
        const T* const row = kOfWeight
                                 ? static_cast<const T*>(a.hidden) + (first + i) * a.hidden_stride
                                 : static_cast<const T*>(a.weight) + (first + i) * a.weight_stride;
        // A row that does not count is not read: what is in it may be NaN.
        if (gradients[i] != 0) sum = fmaf(gradients[i], to_float(row[d]), sum);
      }
      sums[d] = sum;
    }
  }
  for (int64_t d = threadIdx.x; d < a.dim; d += kThreads) {
    if (kOfWeight) a.dweight[mine * a.dweight_stride + d] = sums[d];
    else static_cast<T*>(a.dhidden)[mine * a.dhidden_stride + d] = from_float<T>(sums[d]);
  }
}

static Support supports(const Args& a, const DeviceInfo&) {
  if (const Support s = supports_any(a); !s) return s;
  return a.dim <= kMostDim ? kSupported : "adds up gradients of 8192 numbers at most";
}
static Status launch(const Args& args, const DeviceInfo&, cudaStream_t stream) {
  return around_rows(args, stream, [&](const Scratch& scratch) {
    if (args.rows.rows == 0 && !args.dweight) return Status::ok();
    return with_float_type(args.dtype, [&](auto t) {
      using T = decltype(t);
      float* const lse = reinterpret_cast<float*>(scratch.rest);
      const unsigned rows = unsigned(args.rows.rows), cols = unsigned(args.rows.cols);
      const size_t shared = size_t(args.dim) * sizeof(float);
      if (rows > 0)
        linear_cross_entropy_losses<T><<<rows, kThreads, 0, stream>>>(args, scratch.losses, lse);
      if (args.dhidden && rows > 0)
        linear_cross_entropy_gradient<T, false>
            <<<rows, kThreads, shared, stream>>>(args, lse, scratch.scale);
      if (args.dweight && cols > 0)
        linear_cross_entropy_gradient<T, true>
            <<<cols, kThreads, shared, stream>>>(args, lse, scratch.scale);
      return launch_status();
    });
  });
}
static size_t workspace(const Args& a, const DeviceInfo&) {
  return Scratch::bytes(a) + size_t(a.rows.rows) * sizeof(float);
}
constinit const Rung rung = {.idea = "every logit is made again wherever it is needed",
                             .supports = supports,
                             .launch = launch,
                             .workspace = workspace,
                             .claims = {.conflict_free = true}};

}  // namespace ridge::linear_cross_entropy::recomputed
