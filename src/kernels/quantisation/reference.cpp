// The definition itself, in the f32 steps that it has: core/block_scaled.cpp.
#include "core/block_scaled.h"
#include "kernels/quantisation/quantisation.h"
#include "ladder/ladder.h"

namespace ridge::quantisation {
namespace {

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
void in(double& value, Dtype dtype, void* base, int64_t i) { store(dtype, base, i, value); }
void out(double& value, Dtype dtype, void* base, int64_t i) { value = load(dtype, base, i); }

}  // namespace

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const Format& format = format_of_op(c.op);
  const int64_t rows = c.size("rows"), cols = c.size("cols");
  HostTensor& q = t["q"];
  Owned owned(format, c.format("q"), rows, cols);
  if (is_back(c.op)) {
    each_scale(format, t, owned, in);
    for (size_t i = 0; i < q.values.size(); ++i)
      store(q.spec.dtype, owned.data.data(), int64_t(i), q.values[i]);
    HostTensor& y = t["y"];
    for (size_t i = 0; i < y.values.size(); ++i)
      y.values[i] = dequantised(owned.tensor, int64_t(i));
    return;
  }
  const bool given = format.has_tensor_scale() && c.flag("given");
  if (given) each_scale(format, t, owned, in);
  if (rows > 0 && cols > 0)
    quantise(t["x"].values.data(), owned.tensor,
             given ? TensorScale::given : TensorScale::computed);
  each_scale(format, t, owned, out);
  for (size_t i = 0; i < q.values.size(); ++i)
    q.values[i] = load(q.spec.dtype, owned.data.data(), int64_t(i));
}

}  // namespace ridge::quantisation
