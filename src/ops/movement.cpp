#include "ridge/movement.h"

#include "ops/call.h"

namespace ridge {
inline namespace api {

Status copy(const Tensor& in, const Tensor& out, cudaStream_t stream) {
  return ops::call("copy", {&in, &out}, {}, {}, stream);
}
Status transpose(const Tensor& in, const Tensor& out, cudaStream_t stream) {
  return ops::call("transpose", {&in, &out}, {}, {}, stream);
}
Status reverse(const Tensor& in, const Tensor& out, cudaStream_t stream) {
  return ops::call("reverse", {&in, &out}, {}, {}, stream);
}
Status interleave(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  return ops::call("interleave", {&a, &b, &out}, {}, {}, stream);
}
Status swap(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  return ops::call("swap", {&x, &y}, {}, {}, stream);
}
Status embedding(const Tensor& tokens, const Tensor& table, const Tensor& out,
                 cudaStream_t stream) {
  return ops::call("embedding", {&tokens, &table, &out}, {}, {}, stream);
}
Status embedding_backward(const Tensor& tokens, const Tensor& dy, const Tensor& dtable,
                          const Workspace& workspace, cudaStream_t stream) {
  return ops::call("embedding_backward", {&tokens, &dy, &dtable}, {}, workspace, stream);
}

}  // namespace api
}  // namespace ridge
