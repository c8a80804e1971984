// The functions of ridge/movement.h for this family.
#include "ops/call.h"
#include "ridge/movement.h"

namespace ridge {
inline namespace api {

Status copy(const Tensor& in, const Tensor& out, cudaStream_t stream) {
  return ops::call("copy", {&in, &out}, {}, {}, stream);
}

}  // namespace api
}  // namespace ridge
