// The functions of ridge/reduce.h for this family.
#include "kernels/reduce/reductions.h"
#include "ops/call.h"
#include "ridge/reduce.h"

namespace ridge {
inline namespace api {

Status segmented_reduce(Reduction reduction, const Tensor& x, const Tensor& offsets,
                        const Tensor& out, const Workspace& workspace, cudaStream_t stream) {
  const auto name = ops::name_of(reduction, "segmented_reduce");
  if (!name) return name.error();
  if (!find_operator("segmented_" + *name))
    return Error{ops::kInvalid, "segmented_reduce: there is no " + *name +
                                    " of segments; there are sum, max, min and mean"};
  return ops::call("segmented_" + *name, {&x, &offsets, &out}, {}, workspace, stream);
}

}  // namespace api
}  // namespace ridge
