// Losses that train a policy from log-probabilities, each with its gradient: see docs/losses.md.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::policy_losses {

enum class Op : uint8_t { ppo, dpo, grpo };
enum class Average : uint8_t { sequence, token };
constexpr int kMostSums = 4;  // numbers that a loss consists of

struct Args {
  Op op = Op::ppo;
  // (rows, cols) each. ppo: log-probabilities, old ones, advantages, values, returns, old values,
  // entropies. dpo: chosen, rejected, and both of the reference. grpo: log-probabilities, old ones,
  // those of the reference. Null: left out.
  const void* in[7] = {};
  const float* advantages = nullptr;  // (rows), of grpo
  const uint8_t* mask = nullptr;      // (rows, cols): 0 where an element does not count
  float* losses = nullptr;            // (sums_of(op))
  void* gradients[2] = {};            // (rows, cols): of in[0], and of the values or in[1]
  int64_t rows = 1, cols = 0;
  // Whether all elements are averaged at once, or rows one by one and then with each other.
  bool per_token = true;
  float clip_low = 0.2f, clip_high = 0.2f, value_clip = 0.2f;
  float value_weight = 0.5f, entropy_weight = 0.01f;
  float beta = 0.1f, smoothing = 0;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;  // see elements.cuh
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

template <Op op>
constexpr int kSums = op == Op::ppo ? 4 : 1;
constexpr int sums_of(Op op) { return op == Op::ppo ? kSums<Op::ppo> : 1; }
// Tensors of (rows, cols) that are read or written.
inline double tensors(const Args& a) {
  double count = 0;
  for (const void* in : a.in) count += in != nullptr;
  for (const void* out : a.gradients) count += out != nullptr;
  return count;
}
inline double bytes(const Args& a) {
  return double(a.rows) * double(a.cols) *
         (tensors(a) * double(size_of(a.dtype)) + (a.mask ? 1 : 0));
}

}  // namespace ridge::policy_losses
