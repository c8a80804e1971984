// AdamW: one step of the optimiser over any number of tensors, as torch.optim.AdamW does it.
//
//   m = beta1 m + (1 - beta1) g            v = beta2 v + (1 - beta2) g^2
//   w = (1 - lr decay) w - lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + eps)
//
// m, v and w are f32. bf16 weights are the rounded copy of an f32 master, which is what is updated;
// their gradients are bf16 too.
#pragma once

#include <cmath>
#include <vector>

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::adamw {

// One tensor with its states, (n) each, without strides.
struct Part {
  void* weight = nullptr;      // f32: read and written; bf16: written
  float* master = nullptr;     // bf16 only
  const void* grad = nullptr;  // of the weights' format
  float* m = nullptr;
  float* v = nullptr;
  int64_t n = 0;
};

struct Args {
  std::vector<Part> parts = {};
  Dtype dtype = Dtype::f32;  // of the weights
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2;
  int64_t step = 1;           // t, from 1
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) {
  double n = 0;
  for (const Part& part : a.parts) n += double(part.n);
  // g, and of w, m, v both ways; then the rounded copy.
  return n * (double(size_of(a.dtype)) + 24 + (a.dtype == Dtype::f32 ? 0 : 2));
}

// What a kernel needs of the numbers above.
struct Step {
  float beta1, rest1, beta2, rest2;  // rest: 1 - beta
  float kept;                        // of the weights, after decay
  float rate;                        // of m, its bias corrected
  float v_scale;                     // of sqrt(v), its bias corrected
  float eps;

  explicit Step(const Args& a)
      : beta1(float(a.beta1)),
        rest1(float(1 - a.beta1)),
        beta2(float(a.beta2)),
        rest2(float(1 - a.beta2)),
        kept(float(1 - a.lr * a.weight_decay)),
        rate(float(a.lr / (1 - std::pow(a.beta1, double(a.step))))),
        v_scale(float(1 / std::sqrt(1 - std::pow(a.beta2, double(a.step))))),
        eps(float(a.eps)) {}
};

}  // namespace ridge::adamw
