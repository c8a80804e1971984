#include "ridge/linear.h"

#include "ops/call.h"

namespace ridge {
inline namespace api {

Status gemv(float alpha, const Tensor& a, const Tensor& x, float beta, const Tensor& y,
            const Workspace& workspace, cudaStream_t stream) {
  return ops::call("gemv", {&a, &x, &y}, {alpha, beta}, workspace, stream);
}
Status gemv_t(float alpha, const Tensor& a, const Tensor& x, float beta, const Tensor& y,
              const Workspace& workspace, cudaStream_t stream) {
  return ops::call("gemv_t", {&a, &x, &y}, {alpha, beta}, workspace, stream);
}

}  // namespace api
}  // namespace ridge
