// The functions of ridge/softmax.h for this family.
#include "ops/call.h"
#include "ridge/softmax.h"

namespace ridge {
inline namespace api {

Status softmax(const Tensor& x, const Tensor& out, cudaStream_t stream) {
  return ops::call("softmax", {&x, &out}, {}, {}, stream);
}
Status log_softmax(const Tensor& x, const Tensor& out, cudaStream_t stream) {
  return ops::call("log_softmax", {&x, &out}, {}, {}, stream);
}
Status softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx, cudaStream_t stream) {
  return ops::call("softmax_backward", {&y, &dy, &dx}, {}, {}, stream);
}
Status log_softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx,
                            cudaStream_t stream) {
  return ops::call("log_softmax_backward", {&y, &dy, &dx}, {}, {}, stream);
}

}  // namespace api
}  // namespace ridge
