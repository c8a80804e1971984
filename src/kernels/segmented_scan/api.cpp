// The functions of ridge/scan.h for this family.
#include "ops/call.h"
#include "ridge/scan.h"

namespace ridge {
inline namespace api {

Status inclusive_segmented_scan(const Tensor& in, const Tensor& heads, const Tensor& out,
                                const Workspace& workspace, cudaStream_t stream) {
  return ops::call("inclusive_segmented_scan", {&in, &heads, &out}, {}, workspace, stream);
}
Status exclusive_segmented_scan(const Tensor& in, const Tensor& heads, const Tensor& out,
                                const Workspace& workspace, cudaStream_t stream) {
  return ops::call("exclusive_segmented_scan", {&in, &heads, &out}, {}, workspace, stream);
}
Status inclusive_scan_by_key(const Tensor& in, const Tensor& keys, const Tensor& out,
                             const Workspace& workspace, cudaStream_t stream) {
  return ops::call("inclusive_scan_by_key", {&in, &keys, &out}, {}, workspace, stream);
}
Status exclusive_scan_by_key(const Tensor& in, const Tensor& keys, const Tensor& out,
                             const Workspace& workspace, cudaStream_t stream) {
  return ops::call("exclusive_scan_by_key", {&in, &keys, &out}, {}, workspace, stream);
}

}  // namespace api
}  // namespace ridge
