#include "ridge/reduce.h"

#include "operator/check.h"
#include "ops/call.h"

namespace ridge {
namespace {

// In the order of Reduction.
constexpr const char* kReductions[] = {"sum",     "max",    "min",     "mean",
                                       "product", "argmax", "norm_l1", "norm_l2"};
constexpr size_t kSegmented = 4;  // as many of them, the first ones, are there for segments

Status check_known(const char* function, Reduction reduction) {
  if (size_t(reduction) < std::size(kReductions)) return Status::ok();
  return Error{ops::kInvalid, std::string(function) + ": reduction " +
                                  std::to_string(int(reduction)) + " is none"};
}

}  // namespace

inline namespace api {

// --- A whole tensor ---

Status reduce(Reduction reduction, const Tensor& x, const Tensor& out, const Workspace& workspace,
              cudaStream_t stream) {
  if (const Status s = check_known("reduce", reduction); !s) return s;
  return ops::call(kReductions[size_t(reduction)], {&x, &out}, {}, workspace, stream);
}
Status sum(const Tensor& x, const Tensor& out, const Workspace& workspace, cudaStream_t stream) {
  return ops::call("sum", {&x, &out}, {}, workspace, stream);
}
Status max(const Tensor& x, const Tensor& out, const Workspace& workspace, cudaStream_t stream) {
  return ops::call("max", {&x, &out}, {}, workspace, stream);
}
Status min(const Tensor& x, const Tensor& out, const Workspace& workspace, cudaStream_t stream) {
  return ops::call("min", {&x, &out}, {}, workspace, stream);
}
Status mean(const Tensor& x, const Tensor& out, const Workspace& workspace, cudaStream_t stream) {
  return ops::call("mean", {&x, &out}, {}, workspace, stream);
}
Status product(const Tensor& x, const Tensor& out, const Workspace& workspace,
               cudaStream_t stream) {
  return ops::call("product", {&x, &out}, {}, workspace, stream);
}
Status argmax(const Tensor& x, const Tensor& out, const Workspace& workspace, cudaStream_t stream) {
  return ops::call("argmax", {&x, &out}, {}, workspace, stream);
}
Status norm_l1(const Tensor& x, const Tensor& out, const Workspace& workspace,
               cudaStream_t stream) {
  return ops::call("norm_l1", {&x, &out}, {}, workspace, stream);
}
Status norm_l2(const Tensor& x, const Tensor& out, const Workspace& workspace,
               cudaStream_t stream) {
  return ops::call("norm_l2", {&x, &out}, {}, workspace, stream);
}
Status dot(const Tensor& x, const Tensor& y, const Tensor& out, const Workspace& workspace,
           cudaStream_t stream) {
  return ops::call("dot", {&x, &y, &out}, {}, workspace, stream);
}
Status count_equal(const Tensor& x, double value, const Tensor& out, const Workspace& workspace,
                   cudaStream_t stream) {
  return ops::call("count_equal", {&x, &out}, {value}, workspace, stream);
}

// --- One axis, and segments ---

Status reduce_axis(Reduction reduction, const Tensor& x, int axis, const Tensor& out,
                   const Workspace& workspace, cudaStream_t stream) {
  if (const Status s = check_known("reduce_axis", reduction); !s) return s;
  return ops::call(kReductions[size_t(reduction)] + std::string("_axis"), {&x, &out},
                   {int64_t(axis)}, workspace, stream);
}

Status segmented_reduce(Reduction reduction, const Tensor& x, const Tensor& offsets,
                        const Tensor& out, const Workspace& workspace, cudaStream_t stream) {
  if (const Status s = check_known("segmented_reduce", reduction); !s) return s;
  const std::string name = kReductions[size_t(reduction)];
  if (size_t(reduction) >= kSegmented)
    return Error{ops::kInvalid, "segmented_reduce: there is no " + name +
                                    " of segments; there are sum, max, min and mean"};
  return ops::call("segmented_" + name, {&x, &offsets, &out}, {}, workspace, stream);
}

// --- Norms put to use ---

Status l1_normalize(const Tensor& x, float epsilon, const Tensor& out, const Workspace& workspace,
                    cudaStream_t stream) {
  return ops::call("l1_normalize", {&x, &out}, {epsilon}, workspace, stream);
}
Status l2_normalize(const Tensor& x, float epsilon, const Tensor& out, const Workspace& workspace,
                    cudaStream_t stream) {
  return ops::call("l2_normalize", {&x, &out}, {epsilon}, workspace, stream);
}
Status clip_by_global_norm(const Tensor& x, float max_norm, const Tensor& out, const Tensor& norm,
                           const Workspace& workspace, cudaStream_t stream) {
  return ops::call("clip_by_global_norm", {&x, &out, &norm}, {max_norm}, workspace, stream);
}

}  // namespace api
}  // namespace ridge
