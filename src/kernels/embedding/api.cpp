// The functions of ridge/movement.h for this family.
#include "ops/call.h"
#include "ridge/movement.h"

namespace ridge {
inline namespace api {

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
