// Cross entropy of the logits hidden weight^T, and its gradients, without ever having all logits.
#pragma once

#include "kernels/cross_entropy/cross_entropy.h"

namespace ridge::linear_cross_entropy {

struct Args {
  const void* hidden = nullptr;  // (rows, dim)
  const void* weight = nullptr;  // (cols, dim)
  void* dhidden = nullptr;       // (rows, dim), or null
  float* dweight = nullptr;      // (cols, dim), or null
  int64_t dim = 0;
  int64_t hidden_stride = 0, weight_stride = 0;  // elements from row to row
  int64_t dhidden_stride = 0, dweight_stride = 0;
  // The rows as cross_entropy knows them, without logits: targets, losses, sizes, scale.
  cross_entropy::Args rows;
  Dtype dtype = Dtype::f32;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr bool has_gradient(const Args& a) { return a.dhidden || a.dweight; }
constexpr double flops(const Args& a) {
  const double products = 1 + (a.dhidden ? 1 : 0) + (a.dweight ? 1 : 0);
  return products * 2 * double(a.rows.rows) * double(a.rows.cols) * double(a.dim);
}

// The rung row_chunks. `scale`: in device memory, a factor of the gradient.
Status run_chunks(const Args& a, float* losses, const float* scale, void* workspace, size_t bytes,
                  const DeviceInfo& device, cudaStream_t stream);
size_t chunks_workspace(const Args& a, const DeviceInfo& device);

}  // namespace ridge::linear_cross_entropy
