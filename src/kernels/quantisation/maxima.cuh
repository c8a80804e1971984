// The workspace: the largest magnitudes of blocks and of the tensor.
#pragma once

#include "device/clear.cuh"
#include "kernels/quantisation/rules.cuh"

namespace ridge::quantisation {

// What lies in the workspace, one after another.
struct Maxima {
  double* sums;      // (groups), of Rule::mean
  double* counts;    // (groups), of Rule::mean
  uint32_t* tensor;  // (4): of all finite blocks; only the first is used
  uint32_t* blocks;  // (blocks.count): magnitude_bits
};
inline Maxima maxima_in(const Args& a) {
  const int64_t groups = a.rule == Rule::mean ? groups_of(a.blocks.count) : 0;
  auto* const sums = static_cast<double*>(a.workspace);
  auto* const tensor = reinterpret_cast<uint32_t*>(sums + 2 * groups);
  return {sums, sums + groups, tensor, tensor + 4};
}
// With `per_block`, the largest magnitude of every block is kept.
inline size_t maxima_bytes(const Args& a, bool per_block) {
  const int64_t groups = a.rule == Rule::mean ? groups_of(a.blocks.count) : 0;
  return size_t(groups) * 2 * sizeof(double) +
         sizeof(uint32_t) * (4 + (per_block ? size_t(a.blocks.count) : 0));
}
// Of a rung that finds the maxima of blocks in registers.
inline size_t levels_bytes(const Args& a) {
  if (a.rule == Rule::mean) return a.back ? 0 : maxima_bytes(a, true);
  const bool has_tensor_maximum = a.is_whole || a.rule == Rule::shared;
  return has_tensor_maximum && !a.back && !a.is_given ? maxima_bytes(a, false) : 0;
}
inline Status clear_maxima(const Args& a, bool per_block, cudaStream_t stream) {
  const Maxima m = maxima_in(a);
  return clear_words(m.tensor, 4 + (per_block ? size_t(a.blocks.count) : 0), stream);
}

// Without elements, every scale is 0.
inline Status launch_empty(const Args& a, cudaStream_t stream) {
  const auto clear = [&](void* p, size_t bytes) {
    return p ? clear_bytes(p, bytes, stream) : Status::ok();
  };
  const bool is_kept = a.is_given && a.rule == Rule::ratio;
  const size_t size = a.rule == Rule::ratio ? sizeof(float) : 1;
  if (!is_kept)
    if (const Status s = clear(a.scales, size * size_t(a.blocks.count)); !s) return s;
  if (a.rule == Rule::shared && !a.is_given)
    if (const Status s = clear(a.second, sizeof(float)); !s) return s;
  return clear(a.mean, sizeof(float));
}

}  // namespace ridge::quantisation
