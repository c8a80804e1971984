// The definition itself, in the f32 steps that it has: core/block_scaled.cpp.
#include "kernels/quantisation/owned.h"
#include "kernels/quantisation/quantisation.h"

namespace ridge::quantisation {

void reference(const Case& c, std::vector<HostTensor>& all) {
  const Tensors t = {all};
  const Format& format = format_of_op(c.op);
  const int64_t rows = c.size("rows"), cols = c.size("cols");
  if (is_back(c.op)) {
    const Owned owned = read_from(format, t, rows, cols);
    HostTensor& y = t["y"];
    for (size_t i = 0; i < y.values.size(); ++i)
      y.values[i] = dequantised(owned.tensor, int64_t(i));
    return;
  }
  HostTensor& q = t["q"];
  Owned owned(format, c.format("q"), rows, cols);
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
