// What all rungs of batch_norm share: the elements of a channel, what a channel is known by, and
// what is then done with each of its elements.
#pragma once

#include "device/channel_line.cuh"
#include "device/convert.cuh"
#include "device/divide.cuh"
#include "device/lanes.cuh"
#include "device/moments.cuh"
#include "kernels/batch_norm/batch_norm.h"

namespace ridge::batch_norm {

constexpr int64_t kMostInner = 1 << 30;  // numbers of elements in a run are ints

inline Support supports_any(const Args& a) {
  if (!is_compute_float(a.dtype)) return "computes f32, f16 and bf16";
  if (a.count() > INT32_MAX) return "counts elements of a channel up to 2^31";
  if (a.channels > INT32_MAX) return "counts channels up to 2^31";
  return a.inner <= kMostInner ? kSupported : "counts elements behind a channel up to 2^30";
}

// Backward: the sums of dy and of dy (x - mean) rstd.
struct Sums {
  float dy = 0, product = 0;
};
__device__ __forceinline__ Sums merged(const Sums& a, const Sums& b) {
  return {a.dy + b.dy, a.product + b.product};
}
__device__ __forceinline__ Sums lanes_merge(const Sums& s) {
  return {lanes_sum(s.dy, kWarpSize), lanes_sum(s.product, kWarpSize)};
}
__device__ __forceinline__ Moments lanes_merge(const Moments& m) {
  return lanes_merge(m, lanes_sum(m.count, kWarpSize), kWarpSize);
}

template <class T>
__device__ __forceinline__ Line known_line(const Args& a, int64_t c, float mean, float rstd) {
  const float gamma = a.gamma ? to_float(static_cast<const T*>(a.gamma)[c]) : 1;
  return {mean, rstd * gamma, a.beta ? to_float(static_cast<const T*>(a.beta)[c]) : 0, 0};
}
// The line of channel c. One thread of those that ask stores what the caller wants to know.
template <class T>
__device__ __forceinline__ Line line_of(const Args& a, int64_t c, const Moments& m, bool stores) {
  const float rstd = rsqrtf(m.m2 / m.count + a.epsilon);
  if (stores) {
    const float unbiased = m.m2 / fmaxf(m.count - 1, 1), kept = 1 - a.momentum;
    if (a.mean) a.mean[c] = m.mean;
    if (a.rstd) a.rstd[c] = rstd;
    if (a.running_mean) a.running_mean[c] = kept * a.running_mean[c] + a.momentum * m.mean;
    if (a.running_variance)
      a.running_variance[c] = kept * a.running_variance[c] + a.momentum * unbiased;
  }
  return known_line<T>(a, c, m.mean, rstd);
}
template <class T>
__device__ __forceinline__ Line line_of(const Args& a, int64_t c, const Sums& s, bool stores) {
  if (stores) {
    a.dgamma[c] = s.product;
    a.dbeta[c] = s.dy;
  }
  const float rstd = a.rstd[c], n = float(a.count());
  const float of_dy = known_line<T>(a, c, 0, rstd).scale;
  return {a.mean[c], -of_dy * rstd * (s.product / n), -of_dy * (s.dy / n), of_dy};
}
template <class T>
__device__ __forceinline__ Line inference_line(const Args& a, int64_t c) {
  return known_line<T>(a, c, a.running_mean[c], rsqrtf(a.running_variance[c] + a.epsilon));
}

// The elements of channel c, by number.
template <class T>
struct Channel {
  const T *x, *dy;
  T *y, *dx;
  float mean = 0, rstd = 0;  // backward
  int count;
  int64_t channels;
  Divider inner;

  __device__ __forceinline__ Channel(const Args& a, int64_t c, const Divider& by_inner)
      : x(static_cast<const T*>(a.x) + c * a.inner),
        dy(static_cast<const T*>(a.dy) + c * a.inner),
        y(static_cast<T*>(a.y) + c * a.inner),
        dx(static_cast<T*>(a.dx) + c * a.inner),
        count(int(a.count())),
        channels(a.channels),
        inner(by_inner) {
    if (a.op != Op::backward) return;
    mean = a.mean[c];
    rstd = a.rstd[c];
  }
  __device__ __forceinline__ int64_t place(int i) const {
    const int64_t run = inner.quotient(i);
    return i + run * (channels - 1) * inner.divisor();
  }
  __device__ __forceinline__ float at(int i) const { return to_float(x[place(i)]); }
  __device__ __forceinline__ void add(int i, Moments& to) const { to.add(at(i)); }
  __device__ __forceinline__ void add(int i, Sums& to) const {
    const int64_t p = place(i);
    const float one = to_float(dy[p]);
    to.dy += one;
    to.product += one * ((to_float(x[p]) - mean) * rstd);
  }
  __device__ __forceinline__ void put(int i, const Line& line, bool backward) const {
    const int64_t p = place(i);
    if (backward) dx[p] = from_float<T>(line.dx(to_float(x[p]), to_float(dy[p])));
    else y[p] = from_float<T>(line.y(to_float(x[p])));
  }
};
inline Divider by_inner(const Args& a) {
  return Divider(a.inner > 0 ? a.inner : 1, a.count() > 0 ? a.count() : 1);
}

// One block, one channel: moments(channel) and sums(channel) give what a rung makes of it.
template <class T, class M, class S>
__device__ __forceinline__ void norm_channel(const Args& a, const Divider& by_inner, M moments,
                                             S sums) {
  const int64_t c = blockIdx.x;
  const Channel<T> channel(a, c, by_inner);
  const bool stores = threadIdx.x == 0;
  Line line;
  if (a.op == Op::train) line = line_of<T>(a, c, moments(channel), stores);
  else if (a.op == Op::infer) line = inference_line<T>(a, c);
  else line = line_of<T>(a, c, sums(channel), stores);
  for (int64_t i = threadIdx.x; i < channel.count; i += blockDim.x)
    channel.put(int(i), line, a.op == Op::backward);
}

}  // namespace ridge::batch_norm
