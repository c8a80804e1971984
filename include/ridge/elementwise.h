// Operators that work element by element. All tensors of a call have the same shape; they may have
// any strides. An output may be one of the inputs itself, but must not overlap an input otherwise.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ridge/status.h"
#include "ridge/tensor.h"

namespace ridge {
inline namespace api {

// out = a + b, for f32, f16 and bf16.
[[nodiscard]] Status add(const Tensor& a, const Tensor& b, const Tensor& out,
                         cudaStream_t stream = nullptr);

// --- Activations: y = f(x), and backward dx = dy f'(x), for f32, f16 and bf16 ---
//
// NaN, the infinities and what happens at a kink are as in PyTorch.
enum class Activation : std::uint8_t {
  relu,
  leaky_relu,  // alpha: slope below 0
  hardtanh,    // alpha, beta: ends; no gradient at the ends themselves
  clip,        // alpha, beta: ends; gradient at the ends
  sigmoid,
  tanh,
  gelu,       // x Phi(x)
  gelu_tanh,  // its approximation with tanh
  silu,
  elu,       // alpha: minus the limit at -Inf
  softplus,  // alpha: sharpness; beta: where sharpness * x is large enough to be the result
};
struct ActivationParameters {
  float alpha = 0, beta = 0;
};
constexpr ActivationParameters default_parameters(Activation kind) {
  switch (kind) {
    case Activation::leaky_relu: return {0.01f, 0};
    case Activation::hardtanh:
    case Activation::clip: return {-1, 1};
    case Activation::elu: return {1, 0};
    case Activation::softplus: return {1, 20};
    default: return {};
  }
}

[[nodiscard]] Status activation(Activation kind, ActivationParameters parameters, const Tensor& x,
                                const Tensor& y, cudaStream_t stream = nullptr);
[[nodiscard]] Status activation_backward(Activation kind, ActivationParameters parameters,
                                         const Tensor& x, const Tensor& dy, const Tensor& dx,
                                         cudaStream_t stream = nullptr);
[[nodiscard]] inline Status activation(Activation kind, const Tensor& x, const Tensor& y,
                                       cudaStream_t stream = nullptr) {
  return activation(kind, default_parameters(kind), x, y, stream);
}
[[nodiscard]] inline Status activation_backward(Activation kind, const Tensor& x, const Tensor& dy,
                                                const Tensor& dx, cudaStream_t stream = nullptr) {
  return activation_backward(kind, default_parameters(kind), x, dy, dx, stream);
}

[[nodiscard]] inline Status relu(const Tensor& x, const Tensor& y, cudaStream_t stream = nullptr) {
  return activation(Activation::relu, x, y, stream);
}
[[nodiscard]] inline Status relu_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                          cudaStream_t stream = nullptr) {
  return activation_backward(Activation::relu, x, dy, dx, stream);
}
[[nodiscard]] inline Status sigmoid(const Tensor& x, const Tensor& y,
                                    cudaStream_t stream = nullptr) {
  return activation(Activation::sigmoid, x, y, stream);
}
[[nodiscard]] inline Status sigmoid_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                             cudaStream_t stream = nullptr) {
  return activation_backward(Activation::sigmoid, x, dy, dx, stream);
}
[[nodiscard]] inline Status tanh(const Tensor& x, const Tensor& y, cudaStream_t stream = nullptr) {
  return activation(Activation::tanh, x, y, stream);
}
[[nodiscard]] inline Status tanh_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                          cudaStream_t stream = nullptr) {
  return activation_backward(Activation::tanh, x, dy, dx, stream);
}
[[nodiscard]] inline Status gelu(const Tensor& x, const Tensor& y, cudaStream_t stream = nullptr) {
  return activation(Activation::gelu, x, y, stream);
}
[[nodiscard]] inline Status gelu_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                          cudaStream_t stream = nullptr) {
  return activation_backward(Activation::gelu, x, dy, dx, stream);
}
[[nodiscard]] inline Status gelu_tanh(const Tensor& x, const Tensor& y,
                                      cudaStream_t stream = nullptr) {
  return activation(Activation::gelu_tanh, x, y, stream);
}
[[nodiscard]] inline Status gelu_tanh_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                               cudaStream_t stream = nullptr) {
  return activation_backward(Activation::gelu_tanh, x, dy, dx, stream);
}
[[nodiscard]] inline Status silu(const Tensor& x, const Tensor& y, cudaStream_t stream = nullptr) {
  return activation(Activation::silu, x, y, stream);
}
[[nodiscard]] inline Status silu_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                          cudaStream_t stream = nullptr) {
  return activation_backward(Activation::silu, x, dy, dx, stream);
}
[[nodiscard]] inline Status leaky_relu(const Tensor& x, const Tensor& y, float slope = 0.01f,
                                       cudaStream_t stream = nullptr) {
  return activation(Activation::leaky_relu, {slope, 0}, x, y, stream);
}
[[nodiscard]] inline Status leaky_relu_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                                float slope = 0.01f,
                                                cudaStream_t stream = nullptr) {
  return activation_backward(Activation::leaky_relu, {slope, 0}, x, dy, dx, stream);
}
[[nodiscard]] inline Status hardtanh(const Tensor& x, const Tensor& y, float low = -1,
                                     float high = 1, cudaStream_t stream = nullptr) {
  return activation(Activation::hardtanh, {low, high}, x, y, stream);
}
[[nodiscard]] inline Status hardtanh_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                              float low = -1, float high = 1,
                                              cudaStream_t stream = nullptr) {
  return activation_backward(Activation::hardtanh, {low, high}, x, dy, dx, stream);
}
[[nodiscard]] inline Status clip(const Tensor& x, const Tensor& y, float low, float high,
                                 cudaStream_t stream = nullptr) {
  return activation(Activation::clip, {low, high}, x, y, stream);
}
[[nodiscard]] inline Status clip_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                          float low, float high, cudaStream_t stream = nullptr) {
  return activation_backward(Activation::clip, {low, high}, x, dy, dx, stream);
}
[[nodiscard]] inline Status elu(const Tensor& x, const Tensor& y, float alpha = 1,
                                cudaStream_t stream = nullptr) {
  return activation(Activation::elu, {alpha, 0}, x, y, stream);
}
[[nodiscard]] inline Status elu_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                         float alpha = 1, cudaStream_t stream = nullptr) {
  return activation_backward(Activation::elu, {alpha, 0}, x, dy, dx, stream);
}
[[nodiscard]] inline Status softplus(const Tensor& x, const Tensor& y, float sharpness = 1,
                                     float threshold = 20, cudaStream_t stream = nullptr) {
  return activation(Activation::softplus, {sharpness, threshold}, x, y, stream);
}
[[nodiscard]] inline Status softplus_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                              float sharpness = 1, float threshold = 20,
                                              cudaStream_t stream = nullptr) {
  return activation_backward(Activation::softplus, {sharpness, threshold}, x, dy, dx, stream);
}

// --- Gated units: y = f(gate) up, with f = silu (swiglu) or gelu (geglu), for f32, f16, bf16 ---
//
// Backward: dgate = dy up f'(gate), dup = dy f(gate). The packed forms take gates and ups as the
// first and the second half of the last dimension: (..., 2 C) for a y of (..., C).
[[nodiscard]] Status swiglu(const Tensor& gate, const Tensor& up, const Tensor& y,
                            cudaStream_t stream = nullptr);
[[nodiscard]] Status swiglu_backward(const Tensor& gate, const Tensor& up, const Tensor& dy,
                                     const Tensor& dgate, const Tensor& dup,
                                     cudaStream_t stream = nullptr);
[[nodiscard]] Status swiglu_packed(const Tensor& x, const Tensor& y, cudaStream_t stream = nullptr);
[[nodiscard]] Status swiglu_packed_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                            cudaStream_t stream = nullptr);
[[nodiscard]] Status geglu(const Tensor& gate, const Tensor& up, const Tensor& y,
                           cudaStream_t stream = nullptr);
[[nodiscard]] Status geglu_backward(const Tensor& gate, const Tensor& up, const Tensor& dy,
                                    const Tensor& dgate, const Tensor& dup,
                                    cudaStream_t stream = nullptr);
[[nodiscard]] Status geglu_packed(const Tensor& x, const Tensor& y, cudaStream_t stream = nullptr);
[[nodiscard]] Status geglu_packed_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                                           cudaStream_t stream = nullptr);

// --- Dropout: y = x / (1 - probability) where kept, else 0, for f32, f16 and bf16 ---
//
// No mask is stored. Whether element i (counted with the last dimension fastest) is dropped depends
// only on seed, offset and i (Philox4x32-7), not on the strides. So backward needs the seed and the
// offset of forward. Give every call of a training step another offset.
[[nodiscard]] Status dropout(const Tensor& x, const Tensor& y, double probability,
                             std::uint64_t seed, std::uint64_t offset,
                             cudaStream_t stream = nullptr);
[[nodiscard]] Status dropout_backward(const Tensor& dy, const Tensor& dx, double probability,
                                      std::uint64_t seed, std::uint64_t offset,
                                      cudaStream_t stream = nullptr);

// --- AdamW: one step, as torch.optim.AdamW does it ---
//
//   m = beta1 m + (1 - beta1) g            v = beta2 v + (1 - beta2) g^2
//   w = (1 - lr decay) w - lr / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + eps)
//
// Weights are f32, or bf16 with an f32 master: then the master is updated, and the weights are its
// rounded copy. Gradients have the format of the weights; m, v and master are f32. All tensors of
// an entry have the same shape and the same order of dimensions, with stride 1 in the innermost;
// their gaps may differ. No two tensors overlap.
struct AdamwTensors {
  Tensor weight;  // read and written; bf16: only written
  Tensor grad;
  Tensor m, v;    // read and written
  Tensor master;  // bf16 weights only: read and written
};
struct AdamwOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2;
  std::int64_t step = 1;  // t, from 1
};
[[nodiscard]] Status adamw(const AdamwTensors& tensors, const AdamwOptions& options,
                           cudaStream_t stream = nullptr);
// Many tensors in few launches. Entries may have different formats; no memory may be written by two
// of them.
[[nodiscard]] Status adamw(const AdamwTensors* entries, std::size_t count,
                           const AdamwOptions& options, cudaStream_t stream = nullptr);

// --- Rotary position embedding, for f32, f16 and bf16 ---
//
// Tensors are (batch, seq, heads, dim) or (seq, heads, dim); the last stride is 1. There may be
// several batch dimensions if they merge to one. Pair i of a head is rotated by the angle position
// * base^(-2 i / dim). Backward rotates the gradients back.
struct RopeOptions {
  bool interleaved = false;  // pair i is (2 i, 2 i + 1); else (i, i + dim / 2)
  std::int64_t first_position = 0;
  // f32 (positions, dim / 2), of one layout: cosines and sines, for at least first_position + seq
  // positions. Much the faster way, and the only one for angles of another kind. Without them the
  // kernel computes its own, from `base`.
  Tensor cos, sin;
  double base = 10000;
};
// One tensor, of queries or of keys.
[[nodiscard]] Status rope(const Tensor& q, const Tensor& q_out, const RopeOptions& options = {},
                          cudaStream_t stream = nullptr);
[[nodiscard]] Status rope_backward(const Tensor& dq_out, const Tensor& dq,
                                   const RopeOptions& options = {}, cudaStream_t stream = nullptr);
// Queries and keys in one launch; they differ at most in their number of heads and their strides.
[[nodiscard]] Status rope(const Tensor& q, const Tensor& k, const Tensor& q_out,
                          const Tensor& k_out, const RopeOptions& options = {},
                          cudaStream_t stream = nullptr);
[[nodiscard]] Status rope_backward(const Tensor& dq_out, const Tensor& dk_out, const Tensor& dq,
                                   const Tensor& dk, const RopeOptions& options = {},
                                   cudaStream_t stream = nullptr);

}  // namespace api
}  // namespace ridge
