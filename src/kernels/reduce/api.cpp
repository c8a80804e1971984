// The functions of ridge/reduce.h for this family.
#include "kernels/reduce/reductions.h"
#include "ops/call.h"
#include "ridge/reduce.h"

namespace ridge {
inline namespace api {

Status reduce(Reduction reduction, const Tensor& x, const Tensor& out, const Workspace& workspace,
              cudaStream_t stream) {
  const auto name = ops::name_of(reduction, "reduce");
  return name ? ops::call(*name, {&x, &out}, {}, workspace, stream) : Status(name.error());
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

}  // namespace api
}  // namespace ridge
