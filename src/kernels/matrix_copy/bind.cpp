#include "kernels/matrix_copy/matrix_copy.h"
#include "ladder/family.h"
#include "operator/layout.h"
#include "operator/slabs.h"

namespace ridge::matrix_copy {
namespace {

using Pair = std::array<Tensor, 2>;  // in and out, of one shape

// Kernels move elements of up to 4 bytes: one of 8 is two of 4.
Tensor in_words(Tensor t) {
  for (int d = 0; d < t.rank; ++d) t.strides[size_t(d)] *= 2;
  t.shape[size_t(t.rank)] = 2;
  t.strides[size_t(t.rank++)] = 1;
  t.dtype = Dtype::u32;
  return t;
}

// Without gaps on both sides. The rows are the caller's, since the first rungs share out rows; the
// others take them as one.
Status copy_all(const Tensor& in, const Tensor& out, Launch<Args>& launch) {
  const bool is_wide = size_of(in.dtype) == 8;
  const int64_t words = is_wide ? 2 : 1;
  const int64_t cols = words * (in.rank > 0 ? in.shape[size_t(in.rank - 1)] : 1);
  return launch({.in = in.data,
                 .out = out.data,
                 .rows = in.elements() * words / cols,
                 .cols = cols,
                 .in_stride = cols,
                 .out_stride = cols,
                 .dtype = is_wide ? Dtype::u32 : in.dtype});
}

Status copy_rows(const Pair& t, Launch<Args>& launch) {
  return ops::each_slab<2>({&t[0], &t[1]}, [&](const ops::Slab<2>& s) {
    return launch({.in = s.data[0],
                   .out = s.data[1],
                   .rows = s.rows,
                   .cols = s.cols,
                   .in_stride = s.stride[0],
                   .out_stride = s.stride[1],
                   .dtype = t[0].dtype});
  });
}

// No two elements lie one after another on both sides: a matrix of one column, for each place of
// the other dimensions.
Status copy_elements(Pair t, Launch<Args>& launch) {
  const int last = t[0].rank - 1;
  int longest = last;
  for (int d = 0; d < last; ++d)
    if (t[0].shape[size_t(d)] > t[0].shape[size_t(longest)]) longest = d;
  for (Tensor& tensor : t) ops::swap_dimensions(tensor, longest, last);
  return ops::each_outer<2>(t, 1, [&](const std::array<void*, 2>& data) {
    return launch({.in = data[0],
                   .out = data[1],
                   .rows = t[0].shape[size_t(last)],
                   .cols = 1,
                   .in_stride = t[0].strides[size_t(last)],
                   .out_stride = t[1].strides[size_t(last)],
                   .dtype = t[0].dtype});
  });
}

// The dimensions from `from` on, which the others are walked for.
Tensor inner_of(Tensor t, int from, void* data) {
  t.data = data;
  for (; from > 0; --from) t = ops::without(t, 0);
  return t;
}

// The input's elements lie one after another along dimension `cols`, the output's along the last.
Status copy_transposed(const Call& call, Pair t, int cols, Launch<Args>& launch) {
  const int rank = t[0].rank;
  for (Tensor& tensor : t) ops::swap_dimensions(tensor, cols, rank - 2);
  int inner = 2;
  if (rank > 2) {  // the longest of the others, if the kernel can step along it, is the batch
    int batch = 0;
    for (int d = 1; d < rank - 2; ++d)
      if (t[0].shape[size_t(d)] > t[0].shape[size_t(batch)]) batch = d;
    for (Tensor& tensor : t) ops::swap_dimensions(tensor, batch, rank - 3);
    if (t[0].strides[size_t(rank - 3)] > 0 && t[1].strides[size_t(rank - 3)] > 0) inner = 3;
  }
  return ops::each_outer<2>(t, inner, [&](const std::array<void*, 2>& data) {
    Tensor in = inner_of(t[0], rank - inner, data[0]);  // (batch, cols, rows)
    const Tensor out = inner_of(t[1], rank - inner, data[1]);
    ops::swap_dimensions(in, inner - 2, inner - 1);  // (batch, rows, cols)
    Call other = handed_over("transpose", call);
    other.set("in", &in);
    other.set("out", &out);
    return launch.other(other);
  });
}

}  // namespace

Status bind(const Call& call, Launch<Args>& launch) {
  const Tensor &in = call["in"], &out = call["out"];
  if (out.elements() == 0) return Status::ok();
  if (ops::is_contiguous(in) && ops::is_contiguous(out)) return copy_all(in, out, launch);
  Pair t = ops::in_memory_order<2>({&in, &out}, 1);
  if (size_of(in.dtype) == 8) {
    ops::Check check(call.op().name.c_str());
    check.that(t[0].rank < kMaxRank, [&] {
      return "elements of 8 bytes in " + std::to_string(kMaxRank) +
             " dimensions, none of which lies next to another";
    });
    if (!check) return check.status();
    const Tensor x = in_words(t[0]), y = in_words(t[1]);
    t = ops::in_memory_order<2>({&x, &y}, 1);
  }
  if (t[0].rank == 0) return copy_rows(t, launch);
  const int last = t[0].rank - 1;
  const int64_t in_step = t[0].strides[size_t(last)], out_step = t[1].strides[size_t(last)];
  if (in_step == 1 && out_step == 1) return copy_rows(t, launch);
  if (out_step == 1 && in_step > 0)
    for (int d = 0; d < last; ++d)
      if (t[0].strides[size_t(d)] == 1) return copy_transposed(call, t, d, launch);
  return copy_elements(t, launch);
}

}  // namespace ridge::matrix_copy
