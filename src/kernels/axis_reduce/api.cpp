// The functions of ridge/reduce.h for this family.
#include "kernels/reduce/reductions.h"
#include "ops/call.h"
#include "ridge/reduce.h"

namespace ridge {
inline namespace api {

Status reduce_axis(Reduction reduction, const Tensor& x, int axis, const Tensor& out,
                   const Workspace& workspace, cudaStream_t stream) {
  const auto name = ops::name_of(reduction, "reduce_axis");
  if (!name) return name.error();
  return ops::call(*name + "_axis", {&x, &out}, {int64_t(axis)}, workspace, stream);
}

}  // namespace api
}  // namespace ridge
