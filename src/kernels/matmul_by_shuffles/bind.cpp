#include "kernels/matmul_by_shuffles/matmul_by_shuffles.h"
#include "ladder/family.h"

namespace ridge::matmul_by_shuffles {

Status bind(const Call& call, Launch<Args>& launch) {
  return launch({.a = static_cast<const float*>(call["a"].data),
                 .b = static_cast<const float*>(call["b"].data),
                 .c = static_cast<float*>(call["c"].data),
                 .batch = call.size("batch"),
                 .dtype = call["a"].dtype});
}

}  // namespace ridge::matmul_by_shuffles
