#include "ridge/reduce.h"

#include <cmath>

#include "kernels/axis_reduce/axis_reduce.h"
#include "kernels/normalize/normalize.h"
#include "kernels/reduce/reduce.h"
#include "kernels/segmented_reduce/segmented_reduce.h"
#include "ops/layout.h"

namespace ridge {
namespace {

using ops::Check;
using ops::Named;

constexpr const char* kReductionNames[] = {"sum",     "max",    "min",     "mean",
                                           "product", "argmax", "norm_l1", "norm_l2"};

// What a family of kernels calls a reduction: the same, in one order or another.
template <class Kind>
constexpr Kind kKinds[] = {Kind::sum,     Kind::max,    Kind::min,     Kind::mean,
                           Kind::product, Kind::argmax, Kind::norm_l1, Kind::norm_l2};

// Calls without a result to write.
bool is_nothing(const reduce::Args&) { return false; }
bool is_nothing(const axis_reduce::Args& a) { return a.outer == 0 || a.inner == 0; }
bool is_nothing(const segmented_reduce::Args& a) { return a.segments == 0; }
bool is_nothing(const normalize::Args& a) {
  return a.kind != normalize::Kind::clip && (a.rows == 0 || a.cols == 0);
}

// What a call found wrong, or what it asks the kernels for.
template <class Args>
Expected<size_t> workspace_of(const char* name, std::span<const RungOf<Args>* const> rungs,
                              const Expected<Args>& args) {
  if (!args) return args.error();
  if (is_nothing(*args)) return size_t(0);
  return ops::workspace_for(name, rungs, *args);
}
template <class Args>
Status run(const char* name, std::span<const RungOf<Args>* const> rungs, Expected<Args> args,
           void* workspace, size_t workspace_bytes, cudaStream_t stream,
           std::initializer_list<Named> tensors) {
  if (!args) return args.error();
  if (is_nothing(*args)) return Status::ok();
  args->workspace = workspace;
  args->workspace_bytes = workspace_bytes;
  return ops::dispatch(name, rungs, *args, stream, tensors);
}

void check_known(Check& check, Reduction reduction) {
  check.that(size_t(reduction) < std::size(kReductionNames),
             "reduction " + std::to_string(int(reduction)) + " is none");
}
void check_one_result(Check& check, Named out, Dtype wanted, const std::string& what) {
  check.that(out.tensor.elements() == 1, std::string(out.name) + " is " + ops::text(out.tensor) +
                                             "; it has to have one element");
  ops::check_dtype_is(check, out, wanted, what.c_str());
}
void check_dense(Check& check, Named t) {
  if (!check) return;
  check.that(ops::is_dense(t.tensor), std::string(t.name) + " has strides " +
                                          ops::strides_text(t.tensor) + " for " +
                                          ops::text(t.tensor) + "; it must not have gaps");
}

// --- a whole tensor ---

Expected<reduce::Args> whole_args(const char* name, Reduction reduction, const Tensor& x,
                                  const Tensor& out) {
  Check check(name);
  check_known(check, reduction);
  if (!check) return check.status().error();
  const Named in = {"x", x}, result = {"out", out};
  const reduce::Kind kind = kKinds<reduce::Kind>[size_t(reduction)];
  check.valid(in).valid(result);
  if (!check) return check.status().error();
  if (reduce::supports_format(kind, Dtype::i32))
    check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32});
  else check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16});
  check_one_result(
      check, result, reduced_dtype(reduction, x.dtype),
      std::string("the ") + kReductionNames[size_t(reduction)] + " of " + name_of(x.dtype));
  check.no_overlap(result, in);
  if (reduction == Reduction::argmax)
    check.that(ops::is_contiguous(x), "x has strides " + ops::strides_text(x) + " for " +
                                          ops::text(x) + "; argmax wants it contiguous");
  else check_dense(check, in);
  if (!check) return check.status().error();
  return reduce::Args{
      .kind = kind, .x = x.data, .out = out.data, .n = x.elements(), .dtype = x.dtype};
}

Expected<reduce::Args> dot_args(const Tensor& x, const Tensor& y, const Tensor& out) {
  Check check("dot");
  const Named in = {"x", x}, other = {"y", y}, result = {"out", out};
  check.valid(in).valid(other).valid(result);
  check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32})
      .same_dtype(other, in)
      .same_shape(other, in);
  check_one_result(check, result, reduce::format_of_result(reduce::Kind::dot, x.dtype),
                   std::string("the dot product of ") + name_of(x.dtype));
  check.no_overlap(result, in).no_overlap(result, other);
  check_dense(check, in);
  if (!check) return check.status().error();
  check.that(ops::same_strides(x, y), "y has strides " + ops::strides_text(y) + " but x has " +
                                          ops::strides_text(x) + "; they have to be the same");
  if (!check) return check.status().error();
  return reduce::Args{.kind = reduce::Kind::dot,
                      .x = x.data,
                      .y = y.data,
                      .out = out.data,
                      .n = x.elements(),
                      .dtype = x.dtype};
}

Expected<reduce::Args> count_args(const Tensor& x, double value, const Tensor& out) {
  Check check("count_equal");
  const Named in = {"x", x}, result = {"out", out};
  check.valid(in).valid(result);
  check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32});
  check_one_result(check, result, Dtype::i64, "a count");
  check.no_overlap(result, in);
  check.that(x.dtype != Dtype::i32 ||
                 (value == std::floor(value) && value >= INT32_MIN && value <= INT32_MAX),
             "value is " + std::to_string(value) + ", which no i32 is");
  check_dense(check, in);
  if (!check) return check.status().error();
  return reduce::Args{.kind = reduce::Kind::count_equal,
                      .x = x.data,
                      .out = out.data,
                      .n = x.elements(),
                      .value = value,
                      .dtype = x.dtype};
}

// --- one axis ---

// The shape that a reduction along `axis` leaves.
Tensor without(const Tensor& t, int axis) {
  Tensor rest = t;
  for (int d = axis; d + 1 < t.rank; ++d) {
    rest.shape[size_t(d)] = t.shape[size_t(d) + 1];
    rest.strides[size_t(d)] = t.strides[size_t(d) + 1];
  }
  --rest.rank;
  return rest;
}

Expected<axis_reduce::Args> axis_args(Reduction reduction, const Tensor& x, int axis,
                                      const Tensor& out) {
  Check check("reduce_axis");
  check_known(check, reduction);
  if (!check) return check.status().error();
  const Named in = {"x", x}, result = {"out", out};
  check.valid(in).valid(result);
  check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16});
  if (!check) return check.status().error();
  const std::string what =
      std::string("the ") + kReductionNames[size_t(reduction)] + " of " + name_of(x.dtype);
  ops::check_dtype_is(check, result, reduced_dtype(reduction, x.dtype), what.c_str());
  check.that(axis >= -x.rank && axis < x.rank,
             "axis is " + std::to_string(axis) + ", but x is " + ops::text(x));
  if (!check) return check.status().error();
  if (axis < 0) axis += x.rank;
  const Tensor wanted = without(x, axis);
  const bool kept = out.rank == x.rank && out.shape[size_t(axis)] == 1;
  const Tensor flat = kept ? without(out, axis) : out;
  bool same = flat.rank == wanted.rank;
  for (int d = 0; same && d < flat.rank; ++d)
    same = flat.shape[size_t(d)] == wanted.shape[size_t(d)];
  check.that(same, "out is " + ops::text(out) + "; without axis " + std::to_string(axis) +
                       " x is " + ops::text(wanted));
  check.no_overlap(result, in);
  if (!check) return check.status().error();

  const auto view = [&](const char* name, const Tensor& t, int begin_inner) {
    const auto outer = ops::merged(t, 0, axis), inner = ops::merged(t, begin_inner, t.rank);
    check.that(outer && inner && (inner->size <= 1 || inner->stride == 1),
               std::string(name) + " has strides " + ops::strides_text(t) + " for " + ops::text(t) +
                   "; the dimensions before axis " + std::to_string(axis) +
                   " have to merge to one stride, and those behind it have to be contiguous");
    return std::pair{outer.value_or(ops::Merged{}), inner.value_or(ops::Merged{})};
  };
  const auto [outer, inner] = view("x", x, axis + 1);
  const auto [out_outer, out_inner] = view("out", flat, axis);
  check.that(out_outer.size <= 1 || std::abs(out_outer.stride) >= out_inner.size,
             "out has strides " + ops::strides_text(out) + ", by which its elements overlap");
  if (!check) return check.status().error();
  return axis_reduce::Args{
      .kind = kKinds<axis_reduce::Kind>[size_t(reduction)],
      .x = x.data,
      .out = out.data,
      .outer = outer.size,
      .axis = x.shape[size_t(axis)],
      .inner = inner.size,
      .outer_stride = outer.stride,
      .axis_stride = x.shape[size_t(axis)] > 1 ? x.strides[size_t(axis)] : inner.size,
      .out_stride = out_outer.size > 1 ? out_outer.stride : inner.size,
      .dtype = x.dtype};
}

// --- segments ---

Expected<segmented_reduce::Args> segment_args(Reduction reduction, const Tensor& x,
                                              const Tensor& offsets, const Tensor& out) {
  Check check("segmented_reduce");
  check_known(check, reduction);
  if (!check) return check.status().error();
  // In the order of Reduction, as all kinds are.
  constexpr segmented_reduce::Kind kSegmentKinds[] = {
      segmented_reduce::Kind::sum, segmented_reduce::Kind::max, segmented_reduce::Kind::min,
      segmented_reduce::Kind::mean};
  check.that(size_t(reduction) < std::size(kSegmentKinds),
             std::string("there is no ") + kReductionNames[size_t(reduction)] +
                 " of segments; there are sum, max, min and mean");
  if (!check) return check.status().error();
  const segmented_reduce::Kind kind = kSegmentKinds[size_t(reduction)];
  const Named in = {"x", x}, at = {"offsets", offsets}, result = {"out", out};
  check.valid(in).valid(at).valid(result);
  if (segmented_reduce::supports_format(kind, Dtype::i32))
    check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32});
  else check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16});
  check.dtype(at, {Dtype::i64, Dtype::i32});
  if (!check) return check.status().error();
  const std::string what =
      std::string("the ") + kReductionNames[size_t(reduction)] + " of " + name_of(x.dtype);
  ops::check_dtype_is(check, result, reduced_dtype(reduction, x.dtype), what.c_str());
  for (const Named t : {in, at, result}) ops::check_vector(check, t);
  if (!check) return check.status().error();
  check.that(offsets.shape[0] == out.shape[0] + 1, "offsets is " + ops::text(offsets) +
                                                       " but out is " + ops::text(out) +
                                                       "; there is one offset more");
  check.no_overlap(result, in).no_overlap(result, at);
  if (!check) return check.status().error();
  return segmented_reduce::Args{.kind = kind,
                                .x = x.data,
                                .offsets = offsets.data,
                                .out = out.data,
                                .n = x.shape[0],
                                .segments = out.shape[0],
                                .dtype = x.dtype,
                                .offset_dtype = offsets.dtype};
}

// --- norms put to use ---

Expected<normalize::Args> normalize_args(const char* name, normalize::Kind kind, const Tensor& x,
                                         float epsilon, const Tensor& out) {
  Check check(name);
  const Named in = {"x", x}, result = {"out", out};
  check.valid(in).valid(result);
  check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16}).same_dtype(result, in);
  check.same_shape(result, in).no_partial_overlap(result, in);
  check.that(epsilon >= 0, "epsilon is " + std::to_string(epsilon) + "; it has to be at least 0");
  const ops::Rows from = ops::rows_of(check, in, false), to = ops::rows_of(check, result, true);
  if (!check) return check.status().error();
  return normalize::Args{.kind = kind,
                         .x = x.data,
                         .out = out.data,
                         .rows = from.rows,
                         .cols = from.cols,
                         .x_stride = from.stride,
                         .out_stride = to.stride,
                         .epsilon = epsilon,
                         .dtype = x.dtype};
}

Expected<normalize::Args> clip_args(const Tensor& x, float max_norm, const Tensor& out,
                                    const Tensor& norm) {
  Check check("clip_by_global_norm");
  const Named in = {"x", x}, result = {"out", out}, of_all = {"norm", norm};
  check.valid(in).valid(result).valid(of_all);
  check.dtype(in, {Dtype::f32, Dtype::f16, Dtype::bf16}).same_dtype(result, in);
  check.same_shape(result, in);
  check_one_result(check, of_all, Dtype::f32, "the norm");
  check.that(max_norm >= 0,
             "max_norm is " + std::to_string(max_norm) + "; it has to be at least 0");
  check.no_partial_overlap(result, in).no_overlap(of_all, in).no_overlap(of_all, result);
  check_dense(check, in);
  if (!check) return check.status().error();
  check.that(ops::same_strides(x, out), "out has strides " + ops::strides_text(out) +
                                            " but x has " + ops::strides_text(x) +
                                            "; they have to be the same");
  if (!check) return check.status().error();
  const int64_t n = x.elements();
  return normalize::Args{.kind = normalize::Kind::clip,
                         .x = x.data,
                         .out = out.data,
                         .norm = static_cast<float*>(norm.data),
                         .rows = 1,
                         .cols = n,
                         .x_stride = n,
                         .out_stride = n,
                         .max_norm = max_norm,
                         .dtype = x.dtype};
}

}  // namespace

inline namespace api {

Expected<size_t> reduce_workspace(Reduction reduction, const Tensor& x, const Tensor& out) {
  return workspace_of("reduce", reduce::rungs(), whole_args("reduce", reduction, x, out));
}
Status reduce(Reduction reduction, const Tensor& x, const Tensor& out, void* workspace,
              size_t workspace_bytes, cudaStream_t stream) {
  return run("reduce", reduce::rungs(), whole_args("reduce", reduction, x, out), workspace,
             workspace_bytes, stream, {{"x", x}, {"out", out}});
}
Expected<size_t> dot_workspace(const Tensor& x, const Tensor& y, const Tensor& out) {
  return workspace_of("dot", reduce::rungs(), dot_args(x, y, out));
}
Status dot(const Tensor& x, const Tensor& y, const Tensor& out, void* workspace,
           size_t workspace_bytes, cudaStream_t stream) {
  return run("dot", reduce::rungs(), dot_args(x, y, out), workspace, workspace_bytes, stream,
             {{"x", x}, {"y", y}, {"out", out}});
}
Expected<size_t> count_equal_workspace(const Tensor& x, double value, const Tensor& out) {
  return workspace_of("count_equal", reduce::rungs(), count_args(x, value, out));
}
Status count_equal(const Tensor& x, double value, const Tensor& out, void* workspace,
                   size_t workspace_bytes, cudaStream_t stream) {
  return run("count_equal", reduce::rungs(), count_args(x, value, out), workspace, workspace_bytes,
             stream, {{"x", x}, {"out", out}});
}

Expected<size_t> reduce_axis_workspace(Reduction reduction, const Tensor& x, int axis,
                                       const Tensor& out) {
  return workspace_of("reduce_axis", axis_reduce::rungs(), axis_args(reduction, x, axis, out));
}
Status reduce_axis(Reduction reduction, const Tensor& x, int axis, const Tensor& out,
                   void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  return run("reduce_axis", axis_reduce::rungs(), axis_args(reduction, x, axis, out), workspace,
             workspace_bytes, stream, {{"x", x}, {"out", out}});
}

Expected<size_t> segmented_reduce_workspace(Reduction reduction, const Tensor& x,
                                            const Tensor& offsets, const Tensor& out) {
  return workspace_of("segmented_reduce", segmented_reduce::rungs(),
                      segment_args(reduction, x, offsets, out));
}
Status segmented_reduce(Reduction reduction, const Tensor& x, const Tensor& offsets,
                        const Tensor& out, void* workspace, size_t workspace_bytes,
                        cudaStream_t stream) {
  return run("segmented_reduce", segmented_reduce::rungs(),
             segment_args(reduction, x, offsets, out), workspace, workspace_bytes, stream,
             {{"x", x}, {"offsets", offsets}, {"out", out}});
}

Expected<size_t> l1_normalize_workspace(const Tensor& x, float epsilon, const Tensor& out) {
  return workspace_of("l1_normalize", normalize::rungs(),
                      normalize_args("l1_normalize", normalize::Kind::l1, x, epsilon, out));
}
Status l1_normalize(const Tensor& x, float epsilon, const Tensor& out, void* workspace,
                    size_t workspace_bytes, cudaStream_t stream) {
  return run("l1_normalize", normalize::rungs(),
             normalize_args("l1_normalize", normalize::Kind::l1, x, epsilon, out), workspace,
             workspace_bytes, stream, {{"x", x}, {"out", out}});
}
Expected<size_t> l2_normalize_workspace(const Tensor& x, float epsilon, const Tensor& out) {
  return workspace_of("l2_normalize", normalize::rungs(),
                      normalize_args("l2_normalize", normalize::Kind::l2, x, epsilon, out));
}
Status l2_normalize(const Tensor& x, float epsilon, const Tensor& out, void* workspace,
                    size_t workspace_bytes, cudaStream_t stream) {
  return run("l2_normalize", normalize::rungs(),
             normalize_args("l2_normalize", normalize::Kind::l2, x, epsilon, out), workspace,
             workspace_bytes, stream, {{"x", x}, {"out", out}});
}

Expected<size_t> clip_by_global_norm_workspace(const Tensor& x, float max_norm, const Tensor& out,
                                               const Tensor& norm) {
  return workspace_of("clip_by_global_norm", normalize::rungs(), clip_args(x, max_norm, out, norm));
}
Status clip_by_global_norm(const Tensor& x, float max_norm, const Tensor& out, const Tensor& norm,
                           void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  return run("clip_by_global_norm", normalize::rungs(), clip_args(x, max_norm, out, norm),
             workspace, workspace_bytes, stream, {{"x", x}, {"out", out}, {"norm", norm}});
}

}  // namespace api
}  // namespace ridge
