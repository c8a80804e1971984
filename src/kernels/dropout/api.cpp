// The functions of ridge/elementwise.h for this family.
#include "ops/call.h"
#include "ridge/elementwise.h"

namespace ridge {
inline namespace api {

Status dropout(const Tensor& x, const Tensor& y, double probability, uint64_t seed, uint64_t offset,
               cudaStream_t stream) {
  return ops::call("dropout", {&x, &y}, {probability, int64_t(seed), int64_t(offset)}, {}, stream);
}
Status dropout_backward(const Tensor& dy, const Tensor& dx, double probability, uint64_t seed,
                        uint64_t offset, cudaStream_t stream) {
  return ops::call("dropout_backward", {&dy, &dx}, {probability, int64_t(seed), int64_t(offset)},
                   {}, stream);
}

}  // namespace api
}  // namespace ridge
