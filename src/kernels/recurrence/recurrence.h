// First-order linear recurrences along an axis of (outer, length, inner), for every outer and
// inner:
//   linear_recurrence            h[t] = a[t] h[t-1] + b[t], from an initial h
//   linear_recurrence_backward   g[t] = dh[t] + a[t+1] g[t+1];  db = g, da[t] = g[t] h[t-1]
//   gae                          A[t] = delta[t] + gamma lambda (1 - done[t]) A[t+1], where
//                                delta[t] = reward[t] + gamma (1 - done[t]) value[t+1] - value[t]
// All are a chain of steps h <- a h + b. Two steps in a row are a step again, with a = a1 a2 and
// b = a2 b1 + b2, which is what lets threads share a chain.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::recurrence {

enum class Op : uint8_t { forward, backward, gae };

struct Args {
  Op op = Op::forward;
  // (outer, length, inner), unless another shape is given; a, b, h and their gradients in `dtype`.
  const void* a = nullptr;
  const void* b = nullptr;        // forward only
  const void* initial = nullptr;  // (outer, inner); null: zeros
  void* h = nullptr;              // backward an input
  const void* dh = nullptr;
  void* da = nullptr;
  void* db = nullptr;
  float* dinitial = nullptr;  // (outer, inner); may be null
  // gae: f32, and bytes that are not 0 where an episode ends.
  const float* rewards = nullptr;
  const float* values = nullptr;
  const uint8_t* done = nullptr;
  const float* next_value = nullptr;  // (outer, inner); null: zeros
  float* advantages = nullptr;
  float* returns = nullptr;  // may be null
  float gamma = 0, lambda = 0;
  int64_t outer = 0, length = 0, inner = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // 04_chunks: one step per chunk
  size_t workspace_bytes = 0;

  int64_t rows() const { return outer * inner; }
};
using Rung = RungOf<Args>;

// What must move.
inline double bytes(const Args& a) {
  const double all = double(a.rows()) * double(a.length), one = double(size_of(a.dtype));
  if (a.op == Op::gae) return all * (a.returns ? 17 : 13);
  return all * one * (a.op == Op::backward ? 5 : 3);
}

}  // namespace ridge::recurrence
