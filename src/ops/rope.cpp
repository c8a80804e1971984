#include "kernels/rope/rope.h"

#include "ops/check.h"
#include "ridge/elementwise.h"

namespace ridge {

using ops::Check;
using ops::Named;

namespace {

bool is_unit(const Tensor& t) {
  return t.shape[size_t(t.rank - 1)] <= 1 || t.strides[size_t(t.rank - 1)] == 1;
}

// A tensor as (batch, seq, heads, dim).
struct View {
  int64_t batch = 1, seq, heads, dim;
  rope::Strides strides;

  explicit View(const Tensor& t) {
    const auto r = size_t(t.rank);
    dim = t.shape[r - 1];
    heads = t.shape[r - 2];
    seq = t.shape[r - 3];
    strides.head = t.strides[r - 2];
    strides.seq = t.strides[r - 3];
    if (r == 4) batch = t.shape[0];
    strides.batch = r == 4 ? t.strides[0] : seq * strides.seq;
  }
};

void check_heads(Check& check, Named in, Named out) {
  check.valid(in).valid(out);
  check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16}).same_dtype(out, in).same_shape(out, in);
  if (!check) return;
  check.that(in.tensor.rank == 3 || in.tensor.rank == 4,
             std::string(in.name) + " is " + ops::text(in.tensor) +
                 "; it must be (batch, seq, heads, dim) or (seq, heads, dim)");
  if (!check) return;
  check.that(in.tensor.shape[size_t(in.tensor.rank - 1)] % 2 == 0,
             std::string(in.name) + " is " + ops::text(in.tensor) +
                 ": heads are made of pairs, so the last size must be even");
  for (const Named& t : {in, out})
    check.that(is_unit(t.tensor),
               std::string(t.name) + " must have stride 1 in its last dimension");
  check.distinct(out).no_partial_overlap(out, in);
}

void check_table(Check& check, const Tensor& x, const RopeOptions& o, Named table) {
  check.valid(table).dtype(table, {Dtype::f32});
  if (!check) return;
  const View view(x);
  const Tensor& t = table.tensor;
  check.that(t.rank == 2 && t.shape[0] >= o.first_position + view.seq && t.shape[1] == view.dim / 2,
             std::string(table.name) + " is " + ops::text(t) + "; it must be (at least " +
                 std::to_string(o.first_position + view.seq) + ", " + std::to_string(view.dim / 2) +
                 ")");
  if (!check) return;
  check.that(is_unit(t), std::string(table.name) + " must have stride 1 in its last dimension");
}

struct Pair {
  const char *in_name, *out_name;
  const Tensor *in, *out;
};

// k may have no tensors.
Status turn(const char* op, bool backward, Pair q, Pair k, const RopeOptions& o,
            cudaStream_t stream) {
  Check check(op);
  const Named q_in = {q.in_name, *q.in}, q_out = {q.out_name, *q.out};
  check_heads(check, q_in, q_out);
  if (k.in) {
    const Named k_in = {k.in_name, *k.in}, k_out = {k.out_name, *k.out};
    check_heads(check, k_in, k_out);
    check.same_dtype(k_in, q_in).no_overlap(k_out, q_out);
    check.no_overlap(k_out, q_in).no_overlap(q_out, k_in);
    if (!check) return check.status();
    const View a(*q.in), b(*k.in);
    check.that(q.in->rank == k.in->rank && a.batch == b.batch && a.seq == b.seq && a.dim == b.dim,
               std::string(k.in_name) + " is " + ops::text(*k.in) + " but " + q.in_name + " is " +
                   ops::text(*q.in) + "; they may differ in heads only");
  }
  constexpr int64_t kMostPositions = int64_t(1) << 60;
  check.that(o.first_position >= 0,
             "first_position is " + std::to_string(o.first_position) + "; it must be at least 0");
  check.that(o.first_position <= kMostPositions,
             "first_position is " + std::to_string(o.first_position) + "; it ends at 2^60");
  const bool has_table = o.cos.data || o.sin.data;
  if (!has_table) check.that(o.base > 0, "base must be above 0");
  if (check && has_table) {
    const Named cos = {"cos", o.cos}, sin = {"sin", o.sin};
    check_table(check, *q.in, o, cos);
    check_table(check, *q.in, o, sin);
    check.that(o.cos.shape[0] <= 1 || o.cos.strides[0] == o.sin.strides[0],
               "cos and sin must have the same strides");
    for (const Named& table : {cos, sin}) {
      check.no_overlap(q_out, table);
      if (k.out) check.no_overlap({k.out_name, *k.out}, table);
    }
  }
  if (!check) return check.status();
  const auto heads = [](const Pair& p) {
    const View in(*p.in), out(*p.out);
    return rope::Heads{p.in->data, p.out->data, in.heads, in.strides, out.strides};
  };
  const View view(*q.in);
  const rope::Args args = {.q = heads(q),
                           .k = k.in ? heads(k) : rope::Heads(),
                           .cos = static_cast<const float*>(o.cos.data),
                           .sin = static_cast<const float*>(o.sin.data),
                           .table_stride = o.cos.strides[0],
                           .batch = view.batch,
                           .seq = view.seq,
                           .dim = view.dim,
                           .first_position = o.first_position,
                           .base = o.base,
                           .interleaved = o.interleaved,
                           .backward = backward,
                           .dtype = q.in->dtype};
  if (q.in->elements() == 0 && (!k.in || k.in->elements() == 0)) return Status::ok();
  return ops::dispatch(op, rope::rungs(), args, stream);
}

}  // namespace

inline namespace api {

Status rope(const Tensor& x, const Tensor& y, const RopeOptions& options, cudaStream_t stream) {
  return turn("rope", false, {"x", "y", &x, &y}, {}, options, stream);
}
Status rope_backward(const Tensor& dy, const Tensor& dx, const RopeOptions& options,
                     cudaStream_t stream) {
  return turn("rope_backward", true, {"dy", "dx", &dy, &dx}, {}, options, stream);
}
Status rope(const Tensor& q, const Tensor& k, const Tensor& q_out, const Tensor& k_out,
            const RopeOptions& options, cudaStream_t stream) {
  return turn("rope", false, {"q", "q_out", &q, &q_out}, {"k", "k_out", &k, &k_out}, options,
              stream);
}
Status rope_backward(const Tensor& dq_out, const Tensor& dk_out, const Tensor& dq, const Tensor& dk,
                     const RopeOptions& options, cudaStream_t stream) {
  return turn("rope_backward", true, {"dq_out", "dq", &dq_out, &dq}, {"dk_out", "dk", &dk_out, &dk},
              options, stream);
}

}  // namespace api
}  // namespace ridge
