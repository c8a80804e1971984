#include <algorithm>

#include "kernels/embedding/embedding.h"
#include "kernels/matrix_copy/matrix_copy.h"
#include "kernels/rearrange/rearrange.h"
#include "kernels/transpose/transpose.h"
#include "ops/check.h"
#include "ops/memory_order.h"
#include "ridge/movement.h"

namespace ridge {

using ops::Check;
using ops::Named;

namespace {

// Whether elements lie one after another, the last dimension fastest.
bool is_plain(const Tensor& t) {
  int64_t stride = 1;
  for (int d = t.rank - 1; d >= 0; --d) {
    if (t.shape[size_t(d)] != 1 && t.strides[size_t(d)] != stride) return false;
    stride *= t.shape[size_t(d)];
  }
  return true;
}

void check_moved(Check& check, Named in, Named out) {
  check.valid(in).valid(out).same_dtype(out, in);
}

// Kernels move elements of up to 4 bytes: one of 8 is two of 4.
Tensor in_words(Tensor t) {
  if (size_of(t.dtype) != 8) return t;
  for (int d = 0; d < t.rank; ++d) t.strides[size_t(d)] *= 2;
  t.shape[size_t(t.rank)] = 2;
  t.strides[size_t(t.rank++)] = 1;
  t.dtype = Dtype::u32;
  return t;
}

Status copy_rows(const char* op, const std::array<Tensor, 2>& t, cudaStream_t stream) {
  return ops::each_slab<2>({&t[0], &t[1]}, [&](const ops::Slab<2>& s) {
    return ops::dispatch(op, matrix_copy::rungs(),
                         matrix_copy::Args{.in = s.data[0],
                                           .out = s.data[1],
                                           .rows = s.rows,
                                           .cols = s.cols,
                                           .in_stride = s.stride[0],
                                           .out_stride = s.stride[1],
                                           .dtype = t[0].dtype},
                         stream);
  });
}

// No two elements lie one after another on both sides: a matrix of one column, for each place of
// the other dimensions.
Status copy_elements(const char* op, std::array<Tensor, 2> t, cudaStream_t stream) {
  const int last = t[0].rank - 1;
  int longest = last;
  for (int d = 0; d < last; ++d)
    if (t[0].shape[size_t(d)] > t[0].shape[size_t(longest)]) longest = d;
  for (Tensor& tensor : t) ops::swap_dimensions(tensor, longest, last);
  return ops::each_outer<2>(t, 1, [&](const std::array<void*, 2>& data) {
    return ops::dispatch(op, matrix_copy::rungs(),
                         matrix_copy::Args{.in = data[0],
                                           .out = data[1],
                                           .rows = t[0].shape[size_t(last)],
                                           .cols = 1,
                                           .in_stride = t[0].strides[size_t(last)],
                                           .out_stride = t[1].strides[size_t(last)],
                                           .dtype = t[0].dtype},
                         stream);
  });
}

// The input's elements lie one after another along dimension `cols`, the output's along the last.
Status copy_transposed(const char* op, std::array<Tensor, 2> t, int cols, cudaStream_t stream) {
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
  const auto r = size_t(rank - 1), c = size_t(rank - 2);
  transpose::Args args = {.rows = t[0].shape[r],
                          .cols = t[0].shape[c],
                          .in_stride = t[0].strides[r],
                          .out_stride = t[1].strides[c],
                          .dtype = t[0].dtype};
  args.in_batch_stride = args.rows * args.in_stride;
  args.out_batch_stride = args.cols * args.out_stride;
  if (inner == 3) {
    args.batch = t[0].shape[c - 1];
    args.in_batch_stride = t[0].strides[c - 1];
    args.out_batch_stride = t[1].strides[c - 1];
  }
  return ops::each_outer<2>(t, inner, [&](const std::array<void*, 2>& data) {
    args.in = data[0];
    args.out = data[1];
    return ops::dispatch(op, transpose::rungs(), args, stream);
  });
}

// out = in, checked, of one shape and not empty.
Status move(const char* op, const Tensor& in, const Tensor& out, cudaStream_t stream) {
  auto t = ops::in_memory_order<2>({&in, &out}, 1);
  if (size_of(in.dtype) == 8) {
    if (t[0].rank == kMaxRank)
      return Error{ops::kInvalid, std::string(op) + ": elements of 8 bytes in " +
                                      std::to_string(kMaxRank) +
                                      " dimensions, none of which lies next to another"};
    const Tensor x = in_words(t[0]), y = in_words(t[1]);
    t = ops::in_memory_order<2>({&x, &y}, 1);
  }
  const int last = t[0].rank - 1;
  if (last < 0) return copy_rows(op, t, stream);
  const auto inner = size_t(last);
  if (t[0].strides[inner] == 1 && t[1].strides[inner] == 1) return copy_rows(op, t, stream);
  if (t[1].strides[inner] == 1 && t[0].strides[inner] > 0)
    for (int d = 0; d < last; ++d)
      if (t[0].strides[size_t(d)] == 1) return copy_transposed(op, t, d, stream);
  return copy_elements(op, t, stream);
}

}  // namespace

inline namespace api {

Status copy(const Tensor& in, const Tensor& out, cudaStream_t stream) {
  Check check("copy");
  check_moved(check, {"in", in}, {"out", out});
  check.same_shape({"out", out}, {"in", in}).distinct({"out", out});
  check.no_overlap({"out", out}, {"in", in});
  if (!check) return check.status();
  if (out.elements() == 0) return Status::ok();
  return move("copy", in, out, stream);
}

Status transpose(const Tensor& in, const Tensor& out, cudaStream_t stream) {
  Check check("transpose");
  check_moved(check, {"in", in}, {"out", out});
  check.dtype({"in", in}, {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32, Dtype::u32, Dtype::u8});
  check.that(in.rank >= 2, "in is " + ops::text(in) + "; it must have two dimensions or more");
  if (!check) return check.status();
  Tensor view = in;
  ops::swap_dimensions(view, in.rank - 2, in.rank - 1);
  bool fits = out.rank == in.rank;
  for (int d = 0; fits && d < in.rank; ++d) fits = out.shape[size_t(d)] == view.shape[size_t(d)];
  check.that(fits, "out is " + ops::text(out) + " but must be " + ops::text(view) + ": in is " +
                       ops::text(in));
  check.distinct({"out", out}).no_overlap({"out", out}, {"in", in});
  if (!check) return check.status();
  if (out.elements() == 0) return Status::ok();
  return move("transpose", view, out, stream);
}

Status reverse(const Tensor& in, const Tensor& out, cudaStream_t stream) {
  Check check("reverse");
  check_moved(check, {"in", in}, {"out", out});
  check.same_shape({"out", out}, {"in", in});
  check.that(in.rank == 1, "in is " + ops::text(in) + "; it must have one dimension");
  check.distinct({"out", out}).no_partial_overlap({"out", out}, {"in", in});
  if (!check) return check.status();
  const int64_t n = in.shape[0];
  if (n == 0) return Status::ok();
  const bool in_place = in.data == out.data;
  const bool plain = size_of(in.dtype) <= 4 && is_plain(in) && is_plain(out);
  if (plain)
    return ops::dispatch(
        "reverse", rearrange::rungs(),
        rearrange::Args{.op = in_place ? rearrange::Op::reverse_in_place : rearrange::Op::reverse,
                        .a = in_place ? nullptr : in.data,
                        .x = out.data,
                        .n = n,
                        .dtype = in.dtype},
        stream);
  check.that(!in_place || n == 1,
             size_of(in.dtype) > 4
                 ? "in place, elements have up to 4 bytes; " + std::string(name_of(in.dtype)) +
                       " have " + std::to_string(size_of(in.dtype))
                 : "in place, the stride must be 1; it is " + std::to_string(in.strides[0]));
  if (!check) return check.status();
  if (in_place) return Status::ok();
  Tensor turned = in;
  turned.data = static_cast<char*>(in.data) + (n - 1) * in.strides[0] * int64_t(size_of(in.dtype));
  turned.strides[0] = -in.strides[0];
  return move("reverse", turned, out, stream);
}

Status interleave(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  Check check("interleave");
  check.valid({"a", a}).valid({"b", b}).valid({"out", out});
  check.same_dtype({"b", b}, {"a", a}).same_dtype({"out", out}, {"a", a});
  check.same_shape({"b", b}, {"a", a});
  check.that(a.rank >= 1, "a is " + ops::text(a) + "; it must have a dimension");
  if (!check) return check.status();
  const auto last = size_t(a.rank - 1);
  Tensor wanted = a;
  wanted.shape[last] *= 2;
  bool fits = out.rank == a.rank;
  for (size_t d = 0; fits && d <= last; ++d) fits = out.shape[d] == wanted.shape[d];
  check.that(fits, "out is " + ops::text(out) + " but must be " + ops::text(wanted) + ": a is " +
                       ops::text(a));
  check.distinct({"out", out});
  check.no_overlap({"out", out}, {"a", a}).no_overlap({"out", out}, {"b", b});
  if (!check) return check.status();
  if (out.elements() == 0) return Status::ok();
  if (size_of(a.dtype) <= 4 && is_plain(a) && is_plain(b) && is_plain(out))
    return ops::dispatch("interleave", rearrange::rungs(),
                         rearrange::Args{.op = rearrange::Op::interleave,
                                         .a = a.data,
                                         .b = b.data,
                                         .x = out.data,
                                         .n = a.elements(),
                                         .dtype = a.dtype},
                         stream);
  Tensor even = out;
  even.shape[last] /= 2;
  even.strides[last] *= 2;
  Tensor odd = even;
  odd.data = static_cast<char*>(out.data) + out.strides[last] * int64_t(size_of(out.dtype));
  if (const Status s = move("interleave", a, even, stream); !s) return s;
  return move("interleave", b, odd, stream);
}

Status swap(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  Check check("swap");
  check_moved(check, {"x", x}, {"y", y});
  check.same_shape({"y", y}, {"x", x}).distinct({"x", x}).distinct({"y", y});
  check.no_overlap({"y", y}, {"x", x});
  if (!check) return check.status();
  if (x.elements() == 0) return Status::ok();
  auto t = ops::in_memory_order<2>({&x, &y}, 0);
  const char* const names[] = {"x", "y"};
  for (size_t i = 0; i < 2 && t[0].rank > 0; ++i)
    check.that(t[i].strides[size_t(t[i].rank - 1)] == 1,
               std::string(names[i]) +
                   " must have stride 1 in the dimension in which x has its least stride");
  if (!check) return check.status();
  const int64_t words = size_of(x.dtype) == 8 ? 2 : 1;  // kernels move up to 4 bytes
  const int64_t n = t[0].rank > 0 ? t[0].shape[size_t(t[0].rank - 1)] : 1;
  return ops::each_outer<2>(t, 1, [&](const std::array<void*, 2>& data) {
    return ops::dispatch("swap", rearrange::rungs(),
                         rearrange::Args{.op = rearrange::Op::swap,
                                         .x = data[0],
                                         .y = data[1],
                                         .n = n * words,
                                         .dtype = words == 2 ? Dtype::u32 : x.dtype},
                         stream);
  });
}

}  // namespace api

// --- Embedding ---

namespace {

constexpr std::initializer_list<Dtype> kFloats = {Dtype::f32, Dtype::f16, Dtype::bf16};

// `rows` (…, dim) has a row for each token; `table` is (vocab, dim).
void check_lookup(Check& check, const Tensor& tokens, Named rows, Named table) {
  check.valid({"tokens", tokens}).valid(table).valid(rows);
  check.dtype({"tokens", tokens}, {Dtype::i32});
  check.that(table.tensor.rank == 2, std::string(table.name) + " is " + ops::text(table.tensor) +
                                         "; it must be (vocab, dim)");
  if (!check) return;
  check.that(tokens.rank < kMaxRank, "tokens has too many dimensions");
  bool fits = rows.tensor.rank == tokens.rank + 1;
  for (size_t d = 0; fits && d < size_t(tokens.rank); ++d)
    fits = rows.tensor.shape[d] == tokens.shape[d];
  fits = fits && rows.tensor.shape[size_t(tokens.rank)] == table.tensor.shape[1];
  if (!fits) {
    Tensor wanted = tokens;
    wanted.dtype = rows.tensor.dtype;
    if (check) wanted.shape[size_t(wanted.rank++)] = table.tensor.shape[1];
    check.that(false, std::string(rows.name) + " is " + ops::text(rows.tensor) + " but must be " +
                          ops::text(wanted) + ": tokens is " + ops::text(tokens) + " and " +
                          table.name + " " + ops::text(table.tensor));
    return;
  }
  if (rows.tensor.elements() == 0) return;
  check.that(table.tensor.shape[0] > 0, std::string(table.name) + " has no rows");
  for (const Named& t : {rows, table})
    check.that(t.tensor.shape[size_t(t.tensor.rank - 1)] == 1 ||
                   t.tensor.strides[size_t(t.tensor.rank - 1)] == 1,
               std::string(t.name) + " must have stride 1 in its last dimension");
}

// Calls f(tokens, rows, count, row_stride) for runs of tokens that lie one after another.
template <class F>
Status each_run(Check& check, const Tensor& tokens, const Tensor& rows, F f) {
  Tensor heads = rows;  // the first element of each row
  heads.rank = tokens.rank;
  const auto t = ops::in_memory_order<2>({&tokens, &heads}, 0);
  const int rank = t[0].rank;
  const auto last = size_t(std::max(rank - 1, 0));
  check.that(rank == 0 || t[0].strides[last] == 1,
             "tokens must have a dimension in which its stride is 1");
  if (!check) return check.status();
  return ops::each_outer<2>(t, 1, [&](const std::array<void*, 2>& data) {
    return f(static_cast<const int32_t*>(data[0]), data[1], rank > 0 ? t[0].shape[last] : 1,
             rank > 0 ? t[1].strides[last] : rows.shape[size_t(rows.rank - 1)]);
  });
}

Check check_backward(const Tensor& tokens, const Tensor& dy, const Tensor& dtable) {
  Check check("embedding_backward");
  check_lookup(check, tokens, {"dy", dy}, {"dtable", dtable});
  check.dtype({"dy", dy}, kFloats).dtype({"dtable", dtable}, {Dtype::f32});
  check.distinct({"dtable", dtable}).no_overlap({"dtable", dtable}, {"dy", dy});
  check.no_overlap({"dtable", dtable}, {"tokens", tokens});
  return check;
}

embedding::Args backward_args(const int32_t* tokens, const void* dy, int64_t count,
                              int64_t row_stride, const Tensor& dtable, Dtype dtype) {
  return {.backward = true,
          .tokens = tokens,
          .dy = dy,
          .dtable = static_cast<float*>(dtable.data),
          .count = count,
          .vocab = dtable.shape[0],
          .dim = dtable.shape[1],
          .table_stride = dtable.strides[0],
          .row_stride = row_stride,
          .dtype = dtype};
}

}  // namespace

inline namespace api {

Status embedding(const Tensor& tokens, const Tensor& table, const Tensor& out,
                 cudaStream_t stream) {
  Check check("embedding");
  check_lookup(check, tokens, {"out", out}, {"table", table});
  check.dtype({"table", table}, kFloats).same_dtype({"out", out}, {"table", table});
  check.distinct({"out", out}).no_overlap({"out", out}, {"table", table});
  check.no_overlap({"out", out}, {"tokens", tokens});
  if (!check) return check.status();
  if (out.elements() == 0) return Status::ok();
  return each_run(check, tokens, out,
                  [&](const int32_t* from, void* to, int64_t count, int64_t row_stride) {
                    return ops::dispatch("embedding", embedding::rungs(),
                                         embedding::Args{.tokens = from,
                                                         .table = table.data,
                                                         .out = to,
                                                         .count = count,
                                                         .vocab = table.shape[0],
                                                         .dim = table.shape[1],
                                                         .table_stride = table.strides[0],
                                                         .row_stride = row_stride,
                                                         .dtype = table.dtype},
                                         stream);
                  });
}

Expected<size_t> embedding_backward_workspace(const Tensor& tokens, const Tensor& dy,
                                              const Tensor& dtable) {
  Check check = check_backward(tokens, dy, dtable);
  if (!check) return check.status().error();
  size_t most = 0;
  if (dy.elements() == 0) return most;
  const Status status = each_run(
      check, tokens, dy, [&](const int32_t* from, void* rows, int64_t count, int64_t row_stride) {
        const auto bytes =
            ops::workspace_for("embedding_backward", embedding::rungs(),
                               backward_args(from, rows, count, row_stride, dtable, dy.dtype));
        if (!bytes) return Status(bytes.error());
        most = std::max(most, *bytes);
        return Status::ok();
      });
  if (!status) return status.error();
  return most;
}

Status embedding_backward(const Tensor& tokens, const Tensor& dy, const Tensor& dtable,
                          void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  Check check = check_backward(tokens, dy, dtable);
  check.that(reinterpret_cast<uintptr_t>(workspace) % 16 == 0,
             "the workspace is not aligned to 16 bytes");
  if (!check) return check.status();
  if (dy.elements() == 0) return Status::ok();
  return each_run(check, tokens, dy,
                  [&](const int32_t* from, void* rows, int64_t count, int64_t row_stride) {
                    auto args = backward_args(from, rows, count, row_stride, dtable, dy.dtype);
                    args.workspace = workspace;
                    args.workspace_bytes = workspace_bytes;
                    return ops::dispatch("embedding_backward", embedding::rungs(), args, stream,
                                         {{"tokens", tokens}, {"dy", dy}, {"dtable", dtable}});
                  });
}

}  // namespace api
}  // namespace ridge
