// The functions of ridge/reduce.h for this family.
#include "ops/call.h"
#include "ridge/reduce.h"

namespace ridge {
inline namespace api {

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
