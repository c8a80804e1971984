#include "kernels/rope/rope.h"
#include "ladder/family.h"
#include "operator/layout.h"

namespace ridge::rope {
namespace {

class Binder {
 public:
  explicit Binder(const Call& call) : call_(call), check_(call.op().name.c_str()) {}

  Status status() const { return check_.status(); }

  // What the description does not say.
  void check() {
    const Tensor& q = *call_.tensors[kQ];
    check_.that(call_.size("dim") % 2 == 0, [&] {
      return name(kQ) + " is " + ops::text(q) +
             ": heads are made of pairs, so the last size must be even";
    });
    check_together(kK, kKOut);
    check_together(kCos, kSin);
    for (const Place t : {kQ, kK, kQOut, kKOut})
      if (const Tensor* tensor = call_.tensors[t])
        check_.that(batches(*tensor).has_value(), [&] {
          return name(t) + " has strides " + ops::strides_text(*tensor) +
                 "; the dimensions before the last three have to merge to one";
        });
    if (check_ && call_.tensors[kCos]) check_table();
  }

  Args args() const {
    const Tensor& q = *call_.tensors[kQ];
    const Tensor* const cos = call_.tensors[kCos];
    Args args = {.q = heads(kQ, kQOut),
                 .batch = batches(q)->size,
                 .seq = call_.size("seq"),
                 .dim = call_.size("dim"),
                 .first_position = call_.integer("first_position"),
                 .base = call_.number("base"),
                 .interleaved = call_.flag("interleaved"),
                 .backward = call_.op().index == 1,
                 .dtype = q.dtype};
    if (call_.tensors[kK]) args.k = heads(kK, kKOut);
    if (!cos) return args;
    args.cos = static_cast<const float*>(cos->data);
    args.sin = static_cast<const float*>(call_.tensors[kSin]->data);
    args.table_stride = cos->strides[0];
    return args;
  }

 private:
  std::string name(size_t t) const { return call_.op().tensors[t].name; }

  void check_together(Place a, Place b) {
    const bool has_a = call_.tensors[a], has_b = call_.tensors[b];
    check_.that(has_a == has_b, [&] {
      return name(has_a ? b : a) + " is missing: it belongs to " + name(has_a ? a : b);
    });
  }
  void check_table() {
    const Tensor &cos = *call_.tensors[kCos], &sin = *call_.tensors[kSin];
    const int64_t positions = call_.integer("first_position") + call_.size("seq");
    check_.that(cos.shape[0] >= positions, [&] {
      return "cos is " + ops::text(cos) + "; it must be (at least " + std::to_string(positions) +
             ", " + std::to_string(call_.size("dim") / 2) + ")";
    });
    check_.that(cos.shape[0] <= 1 || cos.strides[0] == sin.strides[0],
                "cos and sin must have the same strides");
  }

  // The dimensions before (seq, heads, dim), as one. The stride of a single batch is never taken;
  // 0 fits every alignment.
  static std::optional<ops::Merged> batches(const Tensor& t) {
    auto all = ops::merged(t, 0, t.rank - 3);
    if (all && all->size <= 1) all->stride = 0;
    return all;
  }
  static Strides strides_of(const Tensor& t) {
    const auto r = size_t(t.rank);
    return {.batch = batches(t)->stride, .seq = t.strides[r - 3], .head = t.strides[r - 2]};
  }
  Heads heads(Place in, Place out) const {
    const Tensor &from = *call_.tensors[in], &to = *call_.tensors[out];
    return {.in = from.data,
            .out = to.data,
            .heads = from.shape[size_t(from.rank - 2)],
            .in_stride = strides_of(from),
            .out_stride = strides_of(to)};
  }

  const Call& call_;
  ops::Check check_;
};

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  Binder binder(call);
  binder.check();
  return binder.status() ? launch(binder.args()) : binder.status();
}

}  // namespace ridge::rope
