// Rotary position embedding: every pair of a head's numbers is turned by an angle that grows with
// the position, pair i at the speed base^(-2 i / dim). Backward turns the gradients back.
//
//   half-split (Llama in Hugging Face's layout): pair i is (i, i + dim / 2)
//   interleaved (GPT-J, Llama's own layout):     pair i is (2 i, 2 i + 1)
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::rope {

enum Place : size_t { kQ, kK, kCos, kSin, kQOut, kKOut };  // in the order of both descriptions

struct Strides {
  int64_t batch = 0, seq = 0, head = 0;  // elements; those of a head lie one after another
};
struct Heads {
  const void* in = nullptr;  // (batch, seq, heads, dim)
  void* out = nullptr;       // (batch, seq, heads, dim); may be `in`
  int64_t heads = 0;
  Strides in_stride, out_stride;
};

struct Args {
  Heads q, k;  // either may have no heads
  // (first_position + seq, dim / 2): cosines and sines, for the rungs that do not compute them.
  const float* cos = nullptr;
  const float* sin = nullptr;
  int64_t table_stride = 0;  // elements from position to position
  int64_t batch = 0, seq = 0, dim = 0;
  int64_t first_position = 0;
  double base = 10000;
  bool interleaved = false, backward = false;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  const double tokens = double(a.batch) * double(a.seq);
  return 2 * tokens * double(a.q.heads + a.k.heads) * double(a.dim) * double(size_of(a.dtype)) +
         double(a.seq) * double(a.dim) * sizeof(float);
}

inline Support supported(const Args& a) {
  if (a.dtype != Dtype::f32 && a.dtype != Dtype::f16 && a.dtype != Dtype::bf16)
    return "rope takes f32, f16 and bf16";
  return a.dim % 2 == 0 ? kSupported : "heads are made of pairs: dim must be even";
}

}  // namespace ridge::rope
