#include "ridge/scan.h"

#include "kernels/scan/scan.h"
#include "kernels/segmented_scan/segmented_scan.h"
#include "ops/layout.h"

namespace ridge {
namespace {

using ops::Check;
using ops::Named;
using scan::Combine;

struct Buffer {
  void* data = nullptr;
  size_t bytes = 0;
};

Expected<scan::Args> args_of(const char* name, Combine combine, bool inclusive, const Tensor& in,
                             const Tensor& out, Buffer workspace = {}) {
  Check check(name);
  const Named from = {"in", in}, to = {"out", out};
  check.valid(from).valid(to);
  check.dtype(from, {Dtype::i32, Dtype::i64, Dtype::f32, Dtype::f16, Dtype::bf16})
      .same_dtype(to, from)
      .same_shape(to, from);
  ops::check_vector(check, from);
  ops::check_vector(check, to);
  check.no_partial_overlap(to, from);
  if (!check) return check.status().error();
  return scan::Args{.in = in.data,
                    .out = out.data,
                    .n = in.elements(),
                    .combine = combine,
                    .inclusive = inclusive,
                    .dtype = in.dtype,
                    .workspace = workspace.data,
                    .workspace_bytes = workspace.bytes};
}

// Marks: u8 heads, or i32 keys.
Expected<segmented_scan::Args> segmented_args_of(const char* name, bool by_key, bool inclusive,
                                                 const Tensor& in, const Tensor& marks,
                                                 const Tensor& out, Buffer workspace = {}) {
  Check check(name);
  const Named from = {"in", in}, to = {"out", out}, where = {by_key ? "keys" : "heads", marks};
  check.valid(from).valid(where).valid(to);
  check.dtype(from, {Dtype::i32, Dtype::i64, Dtype::f32})
      .dtype(where, {by_key ? Dtype::i32 : Dtype::u8})
      .same_dtype(to, from)
      .same_shape(where, from)
      .same_shape(to, from);
  ops::check_vector(check, from);
  ops::check_vector(check, where);
  ops::check_vector(check, to);
  check.no_partial_overlap(to, from).no_overlap(to, where);
  if (!check) return check.status().error();
  return segmented_scan::Args{.in = in.data,
                              .heads = by_key ? nullptr : static_cast<const uint8_t*>(marks.data),
                              .keys = by_key ? static_cast<const int32_t*>(marks.data) : nullptr,
                              .out = out.data,
                              .n = in.elements(),
                              .inclusive = inclusive,
                              .dtype = in.dtype,
                              .workspace = workspace.data,
                              .workspace_bytes = workspace.bytes};
}

template <class Args, class Rungs>
Expected<size_t> workspace_for(const char* name, Rungs rungs, const Expected<Args>& args) {
  if (!args) return args.error();
  if (args->n == 0) return size_t(0);
  return ops::workspace_for(name, rungs, *args);
}
template <class Args, class Rungs>
Status dispatch(const char* name, Rungs rungs, const Expected<Args>& args, cudaStream_t stream,
                std::initializer_list<Named> tensors) {
  if (!args) return args.error();
  if (args->n == 0) return Status::ok();
  return ops::dispatch(name, rungs, *args, stream, tensors);
}

}  // namespace

inline namespace api {

Expected<size_t> inclusive_scan_workspace(const Tensor& in, const Tensor& out) {
  constexpr const char* kName = "inclusive_scan";
  return workspace_for(kName, scan::rungs(), args_of(kName, Combine::sum, true, in, out));
}
Status inclusive_scan(const Tensor& in, const Tensor& out, void* workspace, size_t workspace_bytes,
                      cudaStream_t stream) {
  constexpr const char* kName = "inclusive_scan";
  return dispatch(kName, scan::rungs(),
                  args_of(kName, Combine::sum, true, in, out, {workspace, workspace_bytes}), stream,
                  {{"in", in}, {"out", out}});
}
Expected<size_t> exclusive_scan_workspace(const Tensor& in, const Tensor& out) {
  constexpr const char* kName = "exclusive_scan";
  return workspace_for(kName, scan::rungs(), args_of(kName, Combine::sum, false, in, out));
}
Status exclusive_scan(const Tensor& in, const Tensor& out, void* workspace, size_t workspace_bytes,
                      cudaStream_t stream) {
  constexpr const char* kName = "exclusive_scan";
  return dispatch(kName, scan::rungs(),
                  args_of(kName, Combine::sum, false, in, out, {workspace, workspace_bytes}),
                  stream, {{"in", in}, {"out", out}});
}
Expected<size_t> inclusive_max_scan_workspace(const Tensor& in, const Tensor& out) {
  constexpr const char* kName = "inclusive_max_scan";
  return workspace_for(kName, scan::rungs(), args_of(kName, Combine::max, true, in, out));
}
Status inclusive_max_scan(const Tensor& in, const Tensor& out, void* workspace,
                          size_t workspace_bytes, cudaStream_t stream) {
  constexpr const char* kName = "inclusive_max_scan";
  return dispatch(kName, scan::rungs(),
                  args_of(kName, Combine::max, true, in, out, {workspace, workspace_bytes}), stream,
                  {{"in", in}, {"out", out}});
}
Expected<size_t> exclusive_max_scan_workspace(const Tensor& in, const Tensor& out) {
  constexpr const char* kName = "exclusive_max_scan";
  return workspace_for(kName, scan::rungs(), args_of(kName, Combine::max, false, in, out));
}
Status exclusive_max_scan(const Tensor& in, const Tensor& out, void* workspace,
                          size_t workspace_bytes, cudaStream_t stream) {
  constexpr const char* kName = "exclusive_max_scan";
  return dispatch(kName, scan::rungs(),
                  args_of(kName, Combine::max, false, in, out, {workspace, workspace_bytes}),
                  stream, {{"in", in}, {"out", out}});
}

Expected<size_t> inclusive_segmented_scan_workspace(const Tensor& in, const Tensor& heads,
                                                    const Tensor& out) {
  constexpr const char* kName = "inclusive_segmented_scan";
  return workspace_for(kName, segmented_scan::rungs(),
                       segmented_args_of(kName, false, true, in, heads, out));
}
Status inclusive_segmented_scan(const Tensor& in, const Tensor& heads, const Tensor& out,
                                void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  constexpr const char* kName = "inclusive_segmented_scan";
  return dispatch(
      kName, segmented_scan::rungs(),
      segmented_args_of(kName, false, true, in, heads, out, {workspace, workspace_bytes}), stream,
      {{"in", in}, {"heads", heads}, {"out", out}});
}
Expected<size_t> exclusive_segmented_scan_workspace(const Tensor& in, const Tensor& heads,
                                                    const Tensor& out) {
  constexpr const char* kName = "exclusive_segmented_scan";
  return workspace_for(kName, segmented_scan::rungs(),
                       segmented_args_of(kName, false, false, in, heads, out));
}
Status exclusive_segmented_scan(const Tensor& in, const Tensor& heads, const Tensor& out,
                                void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  constexpr const char* kName = "exclusive_segmented_scan";
  return dispatch(
      kName, segmented_scan::rungs(),
      segmented_args_of(kName, false, false, in, heads, out, {workspace, workspace_bytes}), stream,
      {{"in", in}, {"heads", heads}, {"out", out}});
}
Expected<size_t> inclusive_scan_by_key_workspace(const Tensor& in, const Tensor& keys,
                                                 const Tensor& out) {
  constexpr const char* kName = "inclusive_scan_by_key";
  return workspace_for(kName, segmented_scan::rungs(),
                       segmented_args_of(kName, true, true, in, keys, out));
}
Status inclusive_scan_by_key(const Tensor& in, const Tensor& keys, const Tensor& out,
                             void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  constexpr const char* kName = "inclusive_scan_by_key";
  return dispatch(kName, segmented_scan::rungs(),
                  segmented_args_of(kName, true, true, in, keys, out, {workspace, workspace_bytes}),
                  stream, {{"in", in}, {"keys", keys}, {"out", out}});
}
Expected<size_t> exclusive_scan_by_key_workspace(const Tensor& in, const Tensor& keys,
                                                 const Tensor& out) {
  constexpr const char* kName = "exclusive_scan_by_key";
  return workspace_for(kName, segmented_scan::rungs(),
                       segmented_args_of(kName, true, false, in, keys, out));
}
Status exclusive_scan_by_key(const Tensor& in, const Tensor& keys, const Tensor& out,
                             void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  constexpr const char* kName = "exclusive_scan_by_key";
  return dispatch(
      kName, segmented_scan::rungs(),
      segmented_args_of(kName, true, false, in, keys, out, {workspace, workspace_bytes}), stream,
      {{"in", in}, {"keys", keys}, {"out", out}});
}

}  // namespace api
}  // namespace ridge
