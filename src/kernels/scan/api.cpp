// The functions of ridge/scan.h for this family.
#include "ops/call.h"
#include "ridge/scan.h"

namespace ridge {
inline namespace api {

Status inclusive_scan(const Tensor& in, const Tensor& out, const Workspace& workspace,
                      cudaStream_t stream) {
  return ops::call("inclusive_scan", {&in, &out}, {}, workspace, stream);
}
Status exclusive_scan(const Tensor& in, const Tensor& out, const Workspace& workspace,
                      cudaStream_t stream) {
  return ops::call("exclusive_scan", {&in, &out}, {}, workspace, stream);
}
Status inclusive_max_scan(const Tensor& in, const Tensor& out, const Workspace& workspace,
                          cudaStream_t stream) {
  return ops::call("inclusive_max_scan", {&in, &out}, {}, workspace, stream);
}
Status exclusive_max_scan(const Tensor& in, const Tensor& out, const Workspace& workspace,
                          cudaStream_t stream) {
  return ops::call("exclusive_max_scan", {&in, &out}, {}, workspace, stream);
}

}  // namespace api
}  // namespace ridge
