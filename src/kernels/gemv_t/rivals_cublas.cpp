#include "kernels/gemv/cublas_gemv.h"

namespace ridge::gemv_t {

void rivals_cublas(const OperatorDef& op, rivals::Rivals& rivals) {
  if (op.name == "gemv_t") rivals.push_back(gemv::cublas_gemv(true));
}

}  // namespace ridge::gemv_t
