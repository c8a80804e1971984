// The functions of ridge/elementwise.h for this family.
#include "ops/call.h"
#include "ridge/elementwise.h"

namespace ridge {
inline namespace api {

Status swiglu(const Tensor& gate, const Tensor& up, const Tensor& y, cudaStream_t stream) {
  return ops::call("swiglu", {&gate, &up, &y}, {}, {}, stream);
}
Status swiglu_backward(const Tensor& gate, const Tensor& up, const Tensor& dy, const Tensor& dgate,
                       const Tensor& dup, cudaStream_t stream) {
  return ops::call("swiglu_backward", {&gate, &up, &dy, &dgate, &dup}, {}, {}, stream);
}
Status swiglu_packed(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  return ops::call("swiglu_packed", {&x, &y}, {}, {}, stream);
}
Status swiglu_packed_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                              cudaStream_t stream) {
  return ops::call("swiglu_packed_backward", {&x, &dy, &dx}, {}, {}, stream);
}
Status geglu(const Tensor& gate, const Tensor& up, const Tensor& y, cudaStream_t stream) {
  return ops::call("geglu", {&gate, &up, &y}, {}, {}, stream);
}
Status geglu_backward(const Tensor& gate, const Tensor& up, const Tensor& dy, const Tensor& dgate,
                      const Tensor& dup, cudaStream_t stream) {
  return ops::call("geglu_backward", {&gate, &up, &dy, &dgate, &dup}, {}, {}, stream);
}
Status geglu_packed(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  return ops::call("geglu_packed", {&x, &y}, {}, {}, stream);
}
Status geglu_packed_backward(const Tensor& x, const Tensor& dy, const Tensor& dx,
                             cudaStream_t stream) {
  return ops::call("geglu_packed_backward", {&x, &dy, &dx}, {}, {}, stream);
}

}  // namespace api
}  // namespace ridge
