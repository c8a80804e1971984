// The functions of ridge/elementwise.h for this family.
#include "ops/call.h"
#include "ridge/elementwise.h"

namespace ridge {
inline namespace api {

Status add(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  return ops::call("add", {&a, &b, &out}, {}, {}, stream);
}

}  // namespace api
}  // namespace ridge
