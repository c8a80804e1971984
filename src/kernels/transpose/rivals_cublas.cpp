// cuBLAS beside transpose: geam, the sum of two matrices, with a factor of 0 for the second.
#include "harness/rivals/cublas.h"

namespace ridge::transpose {
namespace {

using namespace rivals;

std::string refuses(const Call& call) {
  const Tensor &in = call["in"], &out = call["out"];
  if (const std::string why = needs_format(call, "in", {Dtype::f32}); !why.empty()) return why;
  if (in.rank != 2) return "it takes one matrix at a time";
  if (in.elements() == 0) return "it takes no empty matrix";
  for (const Tensor* t : {&in, &out})
    if (t->strides[1] != 1 || t->strides[0] < t->shape[1]) return "it wants contiguous rows";
  return "";
}

// What we call rows are columns to cuBLAS: its result has out.shape[1] rows.
cublasStatus_t launch(cublasHandle_t handle, const Call& call) {
  const Tensor &in = call["in"], &out = call["out"];
  const float one = 1, zero = 0;
  auto* const result = static_cast<float*>(out.data);
  return cublasSgeam_64(handle, CUBLAS_OP_T, CUBLAS_OP_N, out.shape[1], out.shape[0], &one,
                        static_cast<const float*>(in.data), in.strides[0], &zero, result,
                        out.strides[0], result, out.strides[0]);
}

}  // namespace

void rivals_cublas(const OperatorDef& op, Rivals& rivals) {
  if (op.name == "transpose")
    rivals.push_back(cublas_rival(CUBLAS_POINTER_MODE_HOST, refuses, launch));
}

}  // namespace ridge::transpose
