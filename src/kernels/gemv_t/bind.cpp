#include "kernels/gemv/call.h"
#include "ladder/family.h"

namespace ridge::gemv_t {

Status bind(const Call& call, Launch<gemv::Args>& launch) {
  if (gemv::lies_by_rows(call["a"])) return launch(gemv::by_rows(call));
  const Tensor turned = gemv::transposed(call["a"]);
  Call other = handed_over("gemv", call);
  other.set("a", &turned);
  return launch.other(other);
}

}  // namespace ridge::gemv_t
