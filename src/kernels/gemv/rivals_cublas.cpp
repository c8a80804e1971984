#include "kernels/gemv/cublas_gemv.h"

namespace ridge::gemv {

void rivals_cublas(const OperatorDef& op, rivals::Rivals& rivals) {
  if (op.name == "gemv") rivals.push_back(cublas_gemv(false));
}

}  // namespace ridge::gemv
