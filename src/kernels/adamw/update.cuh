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
constexpr int kSize = 4;  // elements of a pack: 16 bytes of f32, 8 of bf16

// A tensor cut into slots, one per thread: first `packs` packs behind the first `head` elements,
// then the single elements of head and tail. If no head brings all five arrays to the boundary of a
// pack, a block takes the same number of elements, one by one.
struct Slots {
  Part part;
  int64_t packs = 0;
  int head = 0;  // -1: there is none

  int64_t singles() const { return part.n - packs * kSize; }
};

template <class T>
Slots slots_of(const Part& part) {
  Slots slots = {.part = part, .head = -1};
  for (int head = 0; head < kSize && slots.head < 0; ++head) {
    const auto aligned = [&](const auto* p) {
      return reinterpret_cast<uintptr_t>(p + head) % (kSize * sizeof(*p)) == 0;
    };
    if (aligned(static_cast<const T*>(part.weight)) && aligned(static_cast<const T*>(part.grad)) &&
        aligned(part.m) && aligned(part.v) && (sizeof(T) == sizeof(float) || aligned(part.master)))
      slots.head = head;
  }
  if (slots.head > part.n) slots.head = int(part.n);
  if (slots.head >= 0) slots.packs = (part.n - slots.head) / kSize;
  return slots;
}
inline int64_t blocks_of(const Slots& slots) {
  const int64_t each = slots.head < 0 ? int64_t(kThreads) * kSize : kThreads;
  const int64_t all = slots.head < 0 ? slots.part.n : slots.packs + slots.singles();
  return (all + each - 1) / each;
}

// Loads words, because the compiler may load single elements one by one.
template <class T>
using Words = std::conditional_t<sizeof(T) == sizeof(float), uint4, uint2>;
template <class T>
__device__ __forceinline__ void load(const T* p, float (&x)[kSize]) {
  const Words<T> words = *reinterpret_cast<const Words<T>*>(p);
  to_floats(*reinterpret_cast<const Pack<T, kSize>*>(&words), x);
}
template <class T>
__device__ __forceinline__ void store(T* p, const float (&x)[kSize]) {
  const Pack<T, kSize> pack = from_floats<T>(x);
  __stwb(reinterpret_cast<Words<T>*>(p), *reinterpret_cast<const Words<T>*>(&pack));
}

// Block `block` of blocks_of.
template <class T>
__device__ __forceinline__ void update_block(const Slots& slots, int64_t block, const Step& s) {
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
  float w[kSize], m[kSize], v[kSize], g[kSize];
  load(static_cast<const T*>(p.grad) + at, g);
  load(weights, w);
  load(p.m + at, m);
  load(p.v + at, v);
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    const Element e = updated({w[i], m[i], v[i]}, g[i], s);
    w[i] = e.w;
    m[i] = e.m;
    v[i] = e.v;
  }
  store(weights, w);
  store(p.m + at, m);
  store(p.v + at, v);
  if constexpr (sizeof(T) < sizeof(float)) store(static_cast<T*>(p.weight) + at, w);
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
