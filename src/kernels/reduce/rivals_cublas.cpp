// cuBLAS beside dot and the norms. Its search for the largest element looks at sizes without their
// sign, and is therefore no argmax.
#include "harness/rivals/cublas.h"

namespace ridge::reduce {
namespace {

using namespace rivals;

std::string refuses(const Call& call) {
  const std::string why = needs_format(call, "x", kFloats);
  return why.empty() ? needs_contiguous(call) : why;
}

// The result lies on the device, as ours does.
template <class Launch>
void add(Rivals& to, Launch launch) {
  to.push_back(cublas_rival(CUBLAS_POINTER_MODE_DEVICE, refuses, launch));
}

}  // namespace

void rivals_cublas(const OperatorDef& op, Rivals& rivals) {
  if (op.name == "dot")
    add(rivals, [](cublasHandle_t handle, const Call& call) {
      const Tensor& x = call["x"];
      const cudaDataType_t type = cuda_type(x.dtype);
      return cublasDotEx_64(handle, x.elements(), x.data, type, 1, call["y"].data, type, 1,
                            call["out"].data, type, CUDA_R_32F);
    });
  if (op.name == "norm_l1")
    add(rivals, [](cublasHandle_t handle, const Call& call) {
      const Tensor& x = call["x"];
      const cudaDataType_t type = cuda_type(x.dtype);
      return cublasAsumEx_64(handle, x.elements(), x.data, type, 1, call["out"].data, type,
                             CUDA_R_32F);
    });
  if (op.name == "norm_l2")
    add(rivals, [](cublasHandle_t handle, const Call& call) {
      const Tensor& x = call["x"];
      const cudaDataType_t type = cuda_type(x.dtype);
      return cublasNrm2Ex_64(handle, x.elements(), x.data, type, 1, call["out"].data, type,
                             CUDA_R_32F);
    });
}

}  // namespace ridge::reduce
