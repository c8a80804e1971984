// The functions of ridge/movement.h for this family.
#include "ops/call.h"
#include "ridge/movement.h"

namespace ridge {
inline namespace api {

Status reverse(const Tensor& in, const Tensor& out, cudaStream_t stream) {
  return ops::call("reverse", {&in, &out}, {}, {}, stream);
}
Status interleave(const Tensor& a, const Tensor& b, const Tensor& out, cudaStream_t stream) {
  return ops::call("interleave", {&a, &b, &out}, {}, {}, stream);
}
Status swap(const Tensor& x, const Tensor& y, cudaStream_t stream) {
  return ops::call("swap", {&x, &y}, {}, {}, stream);
}

}  // namespace api
}  // namespace ridge
