// cuBLASLt beside gemm and gemm_fused: the fastest of its first eight suggestions, timed when a
// product is first asked for. It sees columns one after another, so it computes transpose(d) =
// transpose(b) transpose(a), in place of c. Of the epilogues it has a bias, relu, and gelu by tanh.
#include <cublasLt.h>

#include <map>
#include <tuple>

#include "harness/rivals/cublas.h"
#include "kernels/gemm/gemm.h"
#include "operator/layout.h"

namespace ridge::gemm {
namespace {

constexpr size_t kWorkspace = size_t(64) << 20;
constexpr int kSuggestions = 8;
constexpr int kTrials = 3;  // of each suggestion

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

Expected<cublasLtHandle_t> handle() {
  static const Expected<cublasLtHandle_t> made = []() -> Expected<cublasLtHandle_t> {
    cublasLtHandle_t handle = nullptr;
    if (const Status s = rivals::cublas_status(cublasLtCreate(&handle)); !s) return s.error();
    return handle;
  }();
  return made;
}

cublasComputeType_t compute_type(const Call& call) {
  const bool may_round = call.op().name == "gemm" && call.integer("precision") == kTf32;
  return may_round && call["a"].dtype == Dtype::f32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                    : CUBLAS_COMPUTE_32F;
}

// The vectors of gemm_fused; gemm has none of them.
const Tensor* bias_of(const Call& call) {
  return call.op().name == "gemm_fused" ? call.find("bias") : nullptr;
}
Activation activation_of(const Call& call) {
  return call.op().name == "gemm_fused" ? Activation(call.integer("activation")) : Activation::none;
}

std::string refuses_epilogue(const Call& call) {
  if (call.op().name != "gemm_fused") return "";
  for (const char* name : {"row_scale", "col_scale", "amax"})
    if (call.find(name)) return std::string("it has no epilogue with ") + name;
  if (activation_of(call) == Activation::gelu) return "its gelu is computed by tanh";
  if (activation_of(call) == Activation::silu) return "it has no epilogue with silu";
  return "";
}

std::string refuses(const Call& call) {
  if (const std::string why = refuses_epilogue(call); !why.empty()) return why;
  const Tensor& d = call["d"];
  if (d.elements() == 0 || call.size("k") == 0)
    return "it is asked for products with elements only";
  for (const char* name : {"a", "b", "d"})
    if (!ops::merged(call[name], 0, d.rank - 2))
      return std::string("the batch of ") + name + " has several steps";
  if (operand(d).op != CUBLAS_OP_N) return "d lies transposed";
  if (call.number("beta") != 0 && call["c"].data != d.data) return "c is not d itself";
  const auto made = handle();
  return made ? "" : "it does not start: " + made.error().message;
}

cublasLtEpilogue_t epilogue_of(const Call& call) {
  const bool adds_bias = bias_of(call) != nullptr;
  switch (activation_of(call)) {
    case Activation::relu: return adds_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::gelu_tanh:
      return adds_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default: return adds_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}
// The pointer is part of the description, so it is set for every launch.
void set_bias(cublasLtMatmulDesc_t product, const Call& call) {
  if (const Tensor* const bias = bias_of(call))
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias->data,
                                   sizeof bias->data);
}

// A product as cuBLASLt knows it, and the suggestion that was fastest.
struct Product {
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
};

cublasStatus_t run(cublasLtHandle_t lt, const Product& p, const cublasLtMatmulAlgo_t& algorithm,
                   const Call& call, const Workspace& workspace, cudaStream_t stream) {
  const auto alpha = float(call.number("alpha")), beta = float(call.number("beta"));
  set_bias(p.product, call);
  return cublasLtMatmul(lt, p.product, &alpha, call["b"].data, p.b, call["a"].data, p.a, &beta,
                        call["d"].data, p.d, call["d"].data, p.d, &algorithm, workspace.data,
                        workspace.bytes, stream);
}

cublasLtMatrixLayout_t layout(const Tensor& t, const Operand& x, int64_t batch) {
  // Columns one after another, so the rows of ours are the columns of theirs.
  const auto rows = uint64_t(t.shape[size_t(t.rank - 2)]),
             cols = uint64_t(t.shape[size_t(t.rank - 1)]);
  const bool is_turned = x.op == CUBLAS_OP_T;
  cublasLtMatrixLayout_t made = nullptr;
  if (cublasLtMatrixLayoutCreate(&made, rivals::cuda_type(t.dtype), is_turned ? rows : cols,
                                 is_turned ? cols : rows, x.leading) != CUBLAS_STATUS_SUCCESS)
    return nullptr;
  const auto count = int32_t(batch);
  cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
  cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &x.batch_step,
                                   sizeof x.batch_step);
  return made;
}

Expected<Product> fastest(cublasLtHandle_t lt, const Call& call, const Workspace& workspace,
                          cudaStream_t stream) {
  const Tensor &a = call["a"], &b = call["b"], &d = call["d"];
  const Operand of_a = operand(a), of_b = operand(b), of_d = operand(d);
  const int64_t batch = call.size("batch");
  Product p;
  p.a = layout(a, of_a, batch), p.b = layout(b, of_b, batch), p.d = layout(d, of_d, batch);
  cublasLtMatmulPreference_t preference = nullptr;
  if (!p.a || !p.b || !p.d ||
      cublasLtMatmulDescCreate(&p.product, compute_type(call), CUDA_R_32F) !=
          CUBLAS_STATUS_SUCCESS ||
      cublasLtMatmulPreferenceCreate(&preference) != CUBLAS_STATUS_SUCCESS)
    return Error{1, "cuBLASLt cannot describe this product"};
  cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_TRANSA, &of_b.op, sizeof of_b.op);
  cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_TRANSB, &of_a.op, sizeof of_a.op);
  const cublasLtEpilogue_t epilogue = epilogue_of(call);
  cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                 sizeof epilogue);
  if (const Tensor* const bias = bias_of(call)) {
    const cudaDataType_t type = rivals::cuda_type(bias->dtype);
    const int64_t step = ops::merged(*bias, 0, bias->rank - 1)->stride;
    cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type,
                                   sizeof type);
    cublasLtMatmulDescSetAttribute(p.product, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, &step,
                                   sizeof step);
    set_bias(p.product, call);
  }
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       &workspace.bytes, sizeof workspace.bytes);
  std::vector<cublasLtMatmulHeuristicResult_t> suggested(kSuggestions);
  int count = 0;
  const cublasStatus_t asked = cublasLtMatmulAlgoGetHeuristic(
      lt, p.product, p.b, p.a, p.d, p.d, preference, kSuggestions, suggested.data(), &count);
  cublasLtMatmulPreferenceDestroy(preference);
  if (asked != CUBLAS_STATUS_SUCCESS || count == 0)
    return Error{1, "cuBLASLt suggests nothing for this product"};
  cudaEvent_t begin = nullptr, end = nullptr;
  if (cudaEventCreate(&begin) != cudaSuccess || cudaEventCreate(&end) != cudaSuccess)
    return Error{1, "no events to time cuBLASLt's suggestions with"};
  float least = 0;
  for (int i = 0; i < count; ++i) {
    float best = 0;
    for (int trial = 0; trial <= kTrials; ++trial) {  // the first one is not counted
      float ms = 0;
      cudaEventRecord(begin, stream);
      const auto status = run(lt, p, suggested[size_t(i)].algo, call, workspace, stream);
      cudaEventRecord(end, stream);
      if (status != CUBLAS_STATUS_SUCCESS || cudaEventSynchronize(end) != cudaSuccess ||
          cudaEventElapsedTime(&ms, begin, end) != cudaSuccess)
        break;
      if (trial > 0 && (best == 0 || ms < best)) best = ms;
    }
    if (best == 0 || (least != 0 && best >= least)) continue;
    least = best;
    p.algorithm = suggested[size_t(i)].algo;
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  if (least == 0) return Error{1, "cuBLASLt runs none of its suggestions for this product"};
  return p;
}

// What tells products apart: everything but where the matrices are.
using Key = std::tuple<Dtype, Dtype, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                       int, int, cublasLtEpilogue_t, cublasComputeType_t>;
Key key_of(const Call& call) {
  const Operand a = operand(call["a"]), b = operand(call["b"]), d = operand(call["d"]);
  return {call["a"].dtype, call["d"].dtype, call.size("batch"), call.size("m"),
          call.size("n"),  call.size("k"),  a.leading,          b.leading,
          d.leading,       int(a.op),       int(b.op),          epilogue_of(call),
          compute_type(call)};
}

// The first launch of a product, which nobody times, tries the suggestions.
Status launch(const Call& call, const Workspace& workspace, cudaStream_t stream) {
  static std::map<Key, Product> known;
  const auto lt = handle();
  if (!lt) return lt.error();
  auto found = known.find(key_of(call));
  if (found == known.end()) {
    const auto product = fastest(*lt, call, workspace, stream);
    if (!product) return product.error();
    found = known.emplace(key_of(call), *product).first;
  }
  return rivals::cublas_status(
      run(*lt, found->second, found->second.algorithm, call, workspace, stream));
}

}  // namespace

void rivals_cublaslt(const OperatorDef& op, rivals::Rivals& rivals) {
  if (op.name != "gemm" && op.name != "gemm_fused") return;
  rivals.push_back({.name = "cuBLASLt",
                    .rival = true,
                    .refuses = [](const Case&, const Call& call) { return refuses(call); },
                    .workspace = [](const Call&) -> Expected<size_t> { return kWorkspace; },
                    .launch = launch});
}

}  // namespace ridge::gemm
