// The functions of ridge/linear.h for this family.
#include "ops/call.h"
#include "ridge/linear.h"

namespace ridge {
inline namespace api {

Status gemv(float alpha, const Tensor& a, const Tensor& x, float beta, const Tensor& y,
            const Workspace& workspace, cudaStream_t stream) {
  return ops::call("gemv", {&a, &x, &y}, {alpha, beta}, workspace, stream);
}

}  // namespace api
}  // namespace ridge
