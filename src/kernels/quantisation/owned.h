// A quantised matrix on the host, and how it lies in the tensors of an operator: for references.
#pragma once

#include <vector>

#include "core/block_scaled.h"
#include "core/number.h"
#include "kernels/quantisation/formats.h"
#include "ladder/ladder.h"

namespace ridge::quantisation {

struct Tensors {
  std::vector<HostTensor>& all;
  HostTensor& operator[](const char* name) const {
    for (HostTensor& t : all)
      if (t.spec.name == name) return t;
    return all.front();
  }
};

// A block-scaled tensor in host memory.
struct Owned {
  std::vector<unsigned char> data, scales;
  std::vector<float> second;
  float mean = 0;
  Tensor tensor;

  Owned(const Format& format, Dtype element, int64_t rows, int64_t cols) {
    const Blocks blocks = blocks_of(format, rows, cols);
    data.resize(bytes_for(element, rows * cols));
    scales.resize(bytes_for(format.info().scale, blocks.count));
    second.resize(format.rule == Rule::mean ? size_t(groups_of(blocks.count)) : 1);
    tensor =
        block_scaled(format.block, data.data(), scales.data(), {rows, cols}, second.data(), &mean);
    tensor.dtype = element;
  }
};

// What belongs to a tensor's scales lies in several tensors of the operator; `copy(tensor, at)`
// moves each of their numbers.
template <class Copy>
void each_scale(const Format& format, const Tensors& t, Owned& owned, Copy copy) {
  HostTensor& scales = t["scales"];
  for (size_t i = 0; i < scales.values.size(); ++i)
    copy(scales.values[i], format.info().scale, owned.scales.data(), int64_t(i));
  if (format.rule == Rule::shared)
    copy(t["tensor_scale"].values[0], Dtype::f32, owned.second.data(), 0);
  if (format.rule != Rule::mean) return;
  HostTensor& groups = t["group_scales"];
  for (size_t i = 0; i < groups.values.size(); ++i)
    copy(groups.values[i], Dtype::f32, owned.second.data(), int64_t(i));
  copy(t["mean"].values[0], Dtype::f32, &owned.mean, 0);
}
inline void in(double& value, Dtype dtype, void* base, int64_t i) { store(dtype, base, i, value); }
inline void out(double& value, Dtype dtype, void* base, int64_t i) { value = load(dtype, base, i); }

// The matrix that an operator reads.
inline Owned read_from(const Format& format, const Tensors& t, int64_t rows, int64_t cols) {
  const HostTensor& q = t["q"];
  Owned owned(format, q.spec.dtype, rows, cols);
  each_scale(format, t, owned, in);
  for (size_t i = 0; i < q.values.size(); ++i)
    store(q.spec.dtype, owned.data.data(), int64_t(i), q.values[i]);
  return owned;
}

}  // namespace ridge::quantisation
