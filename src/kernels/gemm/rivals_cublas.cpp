// cuBLAS beside gemm. It sees columns one after another, so it computes transpose(d) = transpose(b)
// transpose(a), in place of c.
#include "harness/rivals/cublas.h"
#include "operator/layout.h"

namespace ridge::gemm {
namespace {

// A matrix with contiguous rows is a transposed one with contiguous columns.
struct Operand {
  cublasOperation_t op = CUBLAS_OP_N;
  int64_t leading = 0, batch_step = 0;
};
Operand operand(const Tensor& t) {
  const int64_t rows = t.shape[size_t(t.rank - 2)], cols = t.shape[size_t(t.rank - 1)];
  const int64_t row_step = t.strides[size_t(t.rank - 2)], col_step = t.strides[size_t(t.rank - 1)];
  const int64_t batch_step = ops::merged(t, 0, t.rank - 2)->stride;
  if (cols == 1 || col_step == 1) return {CUBLAS_OP_N, std::max(row_step, cols), batch_step};
  return {CUBLAS_OP_T, std::max(col_step, rows), batch_step};
}

std::string refuses(const Call& call) {
  const Tensor& d = call["d"];
  if (d.elements() == 0 || call.size("k") == 0)
    return "it is asked for products with elements only";
  for (const char* name : {"a", "b", "d"})
    if (!ops::merged(call[name], 0, d.rank - 2))
      return std::string("the batch of ") + name + " has several steps";
  if (operand(d).op != CUBLAS_OP_N) return "d lies transposed";
  if (call.number("beta") != 0 && call["c"].data != d.data) return "c is not d itself";
  return "";
}

cublasStatus_t launch(cublasHandle_t handle, const Call& call) {
  const Tensor &a = call["a"], &b = call["b"], &d = call["d"];
  const Operand of_a = operand(a), of_b = operand(b), of_d = operand(d);
  const auto alpha = float(call.number("alpha")), beta = float(call.number("beta"));
  return cublasGemmStridedBatchedEx_64(
      handle, of_b.op, of_a.op, call.size("n"), call.size("m"), call.size("k"), &alpha, b.data,
      rivals::cuda_type(b.dtype), of_b.leading, of_b.batch_step, a.data, rivals::cuda_type(a.dtype),
      of_a.leading, of_a.batch_step, &beta, d.data, rivals::cuda_type(d.dtype), of_d.leading,
      of_d.batch_step, call.size("batch"), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

}  // namespace

void rivals_cublas(const OperatorDef&, rivals::Rivals& rivals) {
  rivals.push_back(rivals::cublas_rival(CUBLAS_POINTER_MODE_HOST, refuses, launch));
}

}  // namespace ridge::gemm
