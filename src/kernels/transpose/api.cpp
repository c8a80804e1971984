// The functions of ridge/movement.h for this family.
#include "ops/call.h"
#include "ridge/movement.h"

namespace ridge {
inline namespace api {

Status transpose(const Tensor& in, const Tensor& out, cudaStream_t stream) {
  return ops::call("transpose", {&in, &out}, {}, {}, stream);
}

}  // namespace api
}  // namespace ridge
