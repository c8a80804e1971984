// The step for one element, and for a block's share of one tensor.
#pragma once

#include "device/convert_pack.cuh"
#include "kernels/adamw/adamw.h"

namespace ridge::adamw {

struct Element {
  float w, m, v;
};
__device__ __forceinline__ Element updated(Element e, float g, const Step& s) {
  e.m = fmaf(s.beta1, e.m, s.rest1 * g);
  e.v = fmaf(s.beta2, e.v, s.rest2 * g * g);
  const float size = fmaf(sqrtf(e.v), s.v_scale, s.eps);
  e.w = fmaf(s.kept, e.w, -s.rate * (e.m / size));
  return e;
}

// T: format of weights and gradients.
template <class T>
__device__ __forceinline__ float* f32_weights(const Part& p) {
  return sizeof(T) == sizeof(float) ? static_cast<float*>(p.weight) : p.master;
}
template <class T>
__device__ __forceinline__ void update_one(const Part& p, int64_t i, const Step& s) {
  float* weights = f32_weights<T>(p);
  const float g = to_float(static_cast<const T*>(p.grad)[i]);
  const Element e = updated({weights[i], p.m[i], p.v[i]}, g, s);
  weights[i] = e.w;
  p.m[i] = e.m;
  p.v[i] = e.v;
  if constexpr (sizeof(T) < sizeof(float)) static_cast<T*>(p.weight)[i] = from_float<T>(e.w);
}

constexpr int kThreads = 256;

// A tensor cut into slots, one a thread: `packs` of kPackSize<T> elements after the first `head`,
// and behind them the single elements of head and tail. Where no head brings all five arrays to a
// 16-byte boundary, a block takes as many elements, but one by one.
struct Slots {
  Part part;
  int64_t packs = 0;
  int head = 0;  // -1: there is none

  int64_t singles(int pack) const { return part.n - packs * pack; }
};

template <class T>
Slots slots_of(const Part& part) {
  const auto aligned = [](const void* p, int64_t offset) {
    return is_pack_aligned(static_cast<const char*>(p) + offset);
  };
  Slots slots = {.part = part, .head = -1};
  for (int head = 0; head < kPackSize<T> && slots.head < 0; ++head) {
    const int64_t narrow = head * int64_t(sizeof(T)), wide = head * int64_t(sizeof(float));
    if (aligned(part.weight, narrow) && aligned(part.grad, narrow) && aligned(part.m, wide) &&
        aligned(part.v, wide) && (sizeof(T) == sizeof(float) || aligned(part.master, wide)))
      slots.head = head;
  }
  if (slots.head > part.n) slots.head = int(part.n);
  if (slots.head >= 0) slots.packs = (part.n - slots.head) / kPackSize<T>;
  return slots;
}
template <class T>
int64_t blocks_of(const Slots& slots) {
  const int64_t each = slots.head < 0 ? int64_t(kThreads) * kPackSize<T> : kThreads;
  const int64_t all = slots.head < 0 ? slots.part.n : slots.packs + slots.singles(kPackSize<T>);
  return (all + each - 1) / each;
}

template <int N>
__device__ __forceinline__ void load_floats(const float* p, float (&x)[N]) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const Pack<float> pack = load_pack(p + i);
#pragma unroll
    for (int j = 0; j < 4; ++j) x[i + j] = pack[j];
  }
}
template <int N>
__device__ __forceinline__ void store_floats(float* p, const float (&x)[N]) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    Pack<float> pack;
#pragma unroll
    for (int j = 0; j < 4; ++j) pack[j] = x[i + j];
    store_pack(p + i, pack);
  }
}

// Block `block` of blocks_of.
template <class T>
__device__ __forceinline__ void update_block(const Slots& slots, int64_t block, const Step& s) {
  constexpr int kSize = kPackSize<T>;
  const Part& p = slots.part;
  if (slots.head < 0) {
    const int64_t first = block * (kThreads * kSize) + threadIdx.x;
#pragma unroll
    for (int i = 0; i < kSize; ++i)
      if (first + i * kThreads < p.n) update_one<T>(p, first + i * kThreads, s);
    return;
  }
  const int64_t slot = block * kThreads + threadIdx.x;
  if (slot >= slots.packs) {
    const int64_t e = slot - slots.packs, i = e < slots.head ? e : slots.packs * kSize + e;
    if (i < p.n) update_one<T>(p, i, s);
    return;
  }
  const int64_t at = slots.head + slot * kSize;
  float* weights = f32_weights<T>(p) + at;
  const Pack<T> grads = load_pack(static_cast<const T*>(p.grad) + at);
  float w[kSize], m[kSize], v[kSize], g[kSize];
  load_floats(weights, w);
  load_floats(p.m + at, m);
  load_floats(p.v + at, v);
  to_floats(grads, g);
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    const Element e = updated({w[i], m[i], v[i]}, g[i], s);
    w[i] = e.w;
    m[i] = e.m;
    v[i] = e.v;
  }
  store_floats(weights, w);
  store_floats(p.m + at, m);
  store_floats(p.v + at, v);
  if constexpr (sizeof(T) < sizeof(float))
    store_pack(static_cast<T*>(p.weight) + at, from_floats<T>(w));
}

inline Support supported(const Args& a) {
  if (a.dtype != Dtype::f32 && a.dtype != Dtype::bf16) return "weights are f32 or bf16";
  return a.step >= 1 ? kSupported : "steps count from 1";
}
// f(T()), T being the format of the weights.
template <class F>
Status with_weight_type(Dtype dtype, F f) {
  return dtype == Dtype::bf16 ? f(__nv_bfloat16()) : f(float());
}

}  // namespace ridge::adamw
