#include "kernels/axis_reduce/axis_reduce.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::axis_reduce {
namespace {

// The dimensions before the axis, and those behind it, each as one.
struct Around {
  ops::Merged outer, inner;
};
Around around(ops::Check& check, const char* name, const Tensor& t, int axis, int behind) {
  const auto outer = ops::merged(t, 0, axis), inner = ops::merged(t, behind, t.rank);
  check.that(outer && inner && (inner->size <= 1 || inner->stride == 1), [&] {
    return std::string(name) + " has strides " + ops::strides_text(t) + " for " + ops::text(t) +
           "; the dimensions before axis " + std::to_string(axis) +
           " have to merge to one stride, and those behind it have to be contiguous";
  });
  return {outer.value_or(ops::Merged{}), inner.value_or(ops::Merged{})};
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor &x = call["x"], &out = call["out"];
  const int given = int(call.integer("axis")), axis = given < 0 ? given + x.rank : given;
  const bool keeps_axis = out.rank == x.rank;
  ops::Check check(call.op().name.c_str());
  const Around from = around(check, "x", x, axis, axis + 1);
  const Around to = around(check, "out", out, axis, keeps_axis ? axis + 1 : axis);
  if (!check) return check.status();
  const int64_t length = call.size("length"), inner = from.inner.size;
  return launch({.kind = Kind(call.op().index),
                 .x = x.data,
                 .out = out.data,
                 .outer = from.outer.size,
                 .axis = length,
                 .inner = inner,
                 .outer_stride = from.outer.stride,
                 .axis_stride = length > 1 ? x.strides[size_t(axis)] : inner,
                 .out_stride = to.outer.size > 1 ? to.outer.stride : inner,
                 .dtype = x.dtype});
}

}  // namespace ridge::axis_reduce
