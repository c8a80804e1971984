// What all rungs of recurrence share: the chains of the operators, whose steps are counted in the
// order in which they are done. Backward, and for gae, that is from
// the end of the axis.
#pragma once

#include <type_traits>

#include "device/convert.cuh"
#include "device/step.cuh"
#include "kernels/recurrence/recurrence.h"

namespace ridge::recurrence {

using steps::Step;

// Chain `row` of a forward pass.
template <class T>
struct Forward {
  const T *a, *b, *first;
  T* h;
  int64_t step;  // from element to element

  __device__ __forceinline__ Forward(const Args& args, int64_t row) : step(args.inner) {
    const int64_t at = row / args.inner * args.length * args.inner + row % args.inner;
    a = static_cast<const T*>(args.a) + at;
    b = static_cast<const T*>(args.b) + at;
    h = static_cast<T*>(args.h) + at;
    first = args.initial ? static_cast<const T*>(args.initial) + row : nullptr;
  }
  __device__ __forceinline__ float initial() const { return first ? to_float(*first) : 0; }
  __device__ __forceinline__ Step at(int64_t s) const {
    return {to_float(a[s * step]), to_float(b[s * step])};
  }
  __device__ __forceinline__ void put(int64_t s, float value) const {
    h[s * step] = from_float<T>(value);
  }
  __device__ __forceinline__ void end(float) const {}  // with h behind the last step
};

template <class T>
struct Backward {
  const T *a, *h, *dh, *first;
  T *da, *db;
  float* dinitial;
  int64_t step, length;

  __device__ __forceinline__ Backward(const Args& args, int64_t row)
      : step(args.inner), length(args.length) {
    const int64_t at = row / args.inner * args.length * args.inner + row % args.inner;
    a = static_cast<const T*>(args.a) + at;
    h = static_cast<const T*>(args.h) + at;
    dh = static_cast<const T*>(args.dh) + at;
    da = static_cast<T*>(args.da) + at;
    db = static_cast<T*>(args.db) + at;
    first = args.initial ? static_cast<const T*>(args.initial) + row : nullptr;
    dinitial = args.dinitial ? args.dinitial + row : nullptr;
  }
  __device__ __forceinline__ float initial() const { return 0; }
  __device__ __forceinline__ Step at(int64_t s) const {
    const int64_t t = length - 1 - s;
    return {s == 0 ? 0 : to_float(a[(t + 1) * step]), to_float(dh[t * step])};
  }
  __device__ __forceinline__ void put(int64_t s, float g) const {
    const int64_t t = length - 1 - s;
    const float before = t > 0 ? to_float(h[(t - 1) * step]) : first ? to_float(*first) : 0;
    db[t * step] = from_float<T>(g);
    da[t * step] = from_float<T>(g * before);
  }
  __device__ __forceinline__ void end(float g) const {
    if (dinitial) *dinitial = length > 0 ? to_float(a[0]) * g : 0;
  }
};

struct Gae {
  const float *rewards, *values, *next;
  const uint8_t* done;
  float *advantages, *returns;
  float gamma, lambda;
  int64_t step, length;

  __device__ __forceinline__ Gae(const Args& args, int64_t row)
      : gamma(args.gamma), lambda(args.lambda), step(args.inner), length(args.length) {
    const int64_t at = row / args.inner * args.length * args.inner + row % args.inner;
    rewards = args.rewards + at;
    values = args.values + at;
    done = args.done + at;
    advantages = args.advantages + at;
    returns = args.returns ? args.returns + at : nullptr;
    next = args.next_value ? args.next_value + row : nullptr;
  }
  __device__ __forceinline__ float initial() const { return 0; }
  __device__ __forceinline__ Step at(int64_t s) const {
    const int64_t t = length - 1 - s;
    const float value = values[t * step];
    if (done[t * step]) return {0, rewards[t * step] - value};  // even where the value is infinite
    const float behind = s > 0 ? values[(t + 1) * step] : next ? *next : 0;
    return {gamma * lambda, rewards[t * step] + gamma * behind - value};
  }
  __device__ __forceinline__ void put(int64_t s, float advantage) const {
    const int64_t t = length - 1 - s;
    advantages[t * step] = advantage;
    if (returns) returns[t * step] = advantage + values[t * step];
  }
  __device__ __forceinline__ void end(float) const {}
};

// Calls f with the type of the call's chains.
template <class Chain>
struct Of {
  using type = Chain;
};
template <class F>
auto with_chain(const Args& a, F f) {
  if (a.op == Op::gae) return f(Of<Gae>());
  return with_float_type(a.dtype, [&](auto t) {
    using T = decltype(t);
    return a.op == Op::forward ? f(Of<Forward<T>>()) : f(Of<Backward<T>>());
  });
}

}  // namespace ridge::recurrence
