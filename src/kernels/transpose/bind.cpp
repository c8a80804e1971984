#include "kernels/transpose/transpose.h"
#include "ladder/family.h"
#include "operator/layout.h"
#include "operator/memory_order.h"

namespace ridge::transpose {
namespace {

Tensor turned(Tensor t) {
  ops::swap_dimensions(t, t.rank - 2, t.rank - 1);
  return t;
}
bool lies_by_columns(const Tensor& t) { return t.strides[size_t(t.rank - 2)] == 1; }

// Matrices as kernels want them: rows one after another, and matrices with one distance.
struct Matrices {
  int64_t stride = 0, batch = 1, batch_stride = 0;
};
std::optional<Matrices> matrices_of(const Tensor& t) {
  const auto row = size_t(t.rank - 2), col = size_t(t.rank - 1);
  const auto leading = ops::merged(t, 0, t.rank - 2);
  if (t.strides[col] != 1 || t.strides[row] <= 0 || !leading) return std::nullopt;
  if (leading->size > 1 && leading->stride <= 0) return std::nullopt;
  return Matrices{
      .stride = t.strides[row],
      .batch = leading->size,
      .batch_stride = leading->size > 1 ? leading->stride : t.shape[row] * t.strides[row]};
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  Tensor in = call["in"], out = call["out"];
  if (out.elements() == 0) return Status::ok();
  if (lies_by_columns(in) && lies_by_columns(out)) {  // then the transposed ones lie by rows
    in = turned(in);
    out = turned(out);
  }
  const int64_t rows = in.shape[size_t(in.rank - 2)], cols = in.shape[size_t(in.rank - 1)];
  const auto from = matrices_of(in), to = matrices_of(out);
  // What `copy` hands over has two sizes above 1 and lies as wanted here: it does not come back.
  if (rows == 1 || cols == 1 || !from || !to) {
    const Tensor view = turned(in);
    Call other = handed_over("copy", call);
    other.set("in", &view);
    other.set("out", &out);
    return launch.other(other);
  }
  return launch({.in = in.data,
                 .out = out.data,
                 .batch = from->batch,
                 .rows = rows,
                 .cols = cols,
                 .in_stride = from->stride,
                 .out_stride = to->stride,
                 .in_batch_stride = from->batch_stride,
                 .out_batch_stride = to->batch_stride,
                 .dtype = in.dtype});
}

}  // namespace ridge::transpose
