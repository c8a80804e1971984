#include "standin/cublas/level3.h"

#include <utility>

#include "standin/cublas/product.h"

namespace ridge::cublas {
namespace {

std::string name_of(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F: return "CUBLAS_COMPUTE_16F";
    case CUBLAS_COMPUTE_16F_PEDANTIC: return "CUBLAS_COMPUTE_16F_PEDANTIC";
    case CUBLAS_COMPUTE_32F: return "CUBLAS_COMPUTE_32F";
    case CUBLAS_COMPUTE_32F_PEDANTIC: return "CUBLAS_COMPUTE_32F_PEDANTIC";
    case CUBLAS_COMPUTE_32F_FAST_16F: return "CUBLAS_COMPUTE_32F_FAST_16F";
    case CUBLAS_COMPUTE_32F_FAST_16BF: return "CUBLAS_COMPUTE_32F_FAST_16BF";
    case CUBLAS_COMPUTE_32F_FAST_TF32: return "CUBLAS_COMPUTE_32F_FAST_TF32";
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return "CUBLAS_COMPUTE_32F_EMULATED_16BFX9";
    case CUBLAS_COMPUTE_64F: return "CUBLAS_COMPUTE_64F";
    case CUBLAS_COMPUTE_64F_PEDANTIC: return "CUBLAS_COMPUTE_64F_PEDANTIC";
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return "CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT";
    case CUBLAS_COMPUTE_32I: return "CUBLAS_COMPUTE_32I";
    case CUBLAS_COMPUTE_32I_PEDANTIC: return "CUBLAS_COMPUTE_32I_PEDANTIC";
  }
  return "compute type " + std::to_string(int(compute));
}

// The format of alpha and beta for one compute type, and the formats of matrices it is for.
struct Computes {
  cudaDataType scalars;
  bool f16 = false, bf16 = false, f32 = false, f64 = false;  // A, B and C
  bool to_f32 = false;                                       // C may be f32 whatever A is

  bool takes(cudaDataType type) const {
    return (f16 && type == CUDA_R_16F) || (bf16 && type == CUDA_R_16BF) ||
           (f32 && type == CUDA_R_32F) || (f64 && type == CUDA_R_64F);
  }
};
Computes computes(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return {.scalars = CUDA_R_16F, .f16 = true};
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return {.scalars = CUDA_R_32F, .f16 = true, .bf16 = true, .f32 = true, .to_f32 = true};
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return {.scalars = CUDA_R_32F, .f32 = true};
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return {.scalars = CUDA_R_64F, .f64 = true};
    default: return {.scalars = CUDA_R_32F};
  }
}

}  // namespace

Matrices matrices(Arguments& a, const char* name, const GivenMatrix& m, int64_t rows, int64_t cols,
                  int64_t batch, bool transposed) {
  a.device(name, m.pointers ? m.pointers : m.data, rows * cols * batch);
  Matrices result = {.data = const_cast<void*>(m.data),
                     .pointers = static_cast<void* const*>(m.pointers),
                     .dtype = a.format(name, m.type),
                     .row_step = 1,
                     .col_step = m.leading,
                     .batch_step = m.stride};
  if (transposed) std::swap(result.row_step, result.col_step);
  return result;
}

Status call_gemm(const Context& context, const GivenGemm& g) {
  Arguments a(context);
  const bool turn_a = a.transposed("transa", g.op_a), turn_b = a.transposed("transb", g.op_b);
  a.size("m", g.m);
  a.size("n", g.n);
  a.size("k", g.k);
  a.size("batchCount", g.batch);
  const int64_t rows_a = turn_a ? g.k : g.m, rows_b = turn_b ? g.n : g.k;
  a.leading("lda", g.a.leading, rows_a);
  a.leading("ldb", g.b.leading, rows_b);
  a.leading("ldc", g.c.leading, g.m);
  if (!a || g.m == 0 || g.n == 0 || g.batch == 0) return a.status();
  Product p;
  p.size = {g.m, g.n, g.batch};
  p.inner = g.k;
  p.alpha = a.scalar("alpha", g.alpha.data, a.format("alpha", g.alpha.type));
  p.beta = a.scalar("beta", g.beta.data, a.format("beta", g.beta.type));
  const bool reads = a && !p.alpha.is(0);  // A and B
  p.a = matrices(a, "A", g.a, g.m, reads ? g.k : 0, g.batch, turn_a);
  p.b = matrices(a, "B", g.b, reads ? g.k : 0, g.n, g.batch, turn_b);
  p.c = matrices(a, "C", g.c, g.m, g.n, g.batch, false);
  return a ? run(context, p) : a.status();
}

Status call_gemm(const Context& context, GivenGemm g, cublasComputeType_t compute) {
  const Computes known = computes(compute);
  const bool to_f32 = known.to_f32 && g.c.type == CUDA_R_32F;
  if (!known.takes(g.a.type) || g.b.type != g.a.type || (g.c.type != g.a.type && !to_f32))
    return unsupported("A is " + type_name(g.a.type) + ", B " + type_name(g.b.type) + ", C " +
                       type_name(g.c.type) + ", computed by " + name_of(compute) +
                       "; Ridge's cuBLAS has A and B of one format: CUDA_R_16F, CUDA_R_16BF and "
                       "CUDA_R_32F by CUBLAS_COMPUTE_32F with C in that format or CUDA_R_32F, "
                       "CUDA_R_16F by CUBLAS_COMPUTE_16F, CUDA_R_64F by CUBLAS_COMPUTE_64F");
  g.alpha.type = g.beta.type = known.scalars;
  return call_gemm(context, g);
}

Status call_geam(const Context& context, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
                 int64_t n, GivenScalar alpha, GivenMatrix ga, GivenScalar beta, GivenMatrix gb,
                 GivenMatrix gc) {
  Arguments a(context);
  const bool turn_a = a.transposed("transa", op_a), turn_b = a.transposed("transb", op_b);
  a.size("m", m);
  a.size("n", n);
  a.leading("lda", ga.leading, turn_a ? n : m);
  a.leading("ldb", gb.leading, turn_b ? n : m);
  a.leading("ldc", gc.leading, m);
  const Scalar of_a = a.scalar("alpha", alpha.data, a.format("alpha", alpha.type));
  const Scalar of_b = a.scalar("beta", beta.data, a.format("beta", beta.type));
  if (!a || m == 0 || n == 0) return a.status();
  const Size size = {m, n, 1};
  const Matrices ma = matrices(a, "A", ga, m, of_a.is(0) ? 0 : n, 1, turn_a);
  const Matrices mb = matrices(a, "B", gb, m, of_b.is(0) ? 0 : n, 1, turn_b);
  const Matrices mc = matrices(a, "C", gc, m, n, 1, false);
  // Each element of C is written by the thread that has read it, so C may be A or B as it is.
  const auto in_place = [&](const char* name, const Matrices& x, bool turned, int64_t leading) {
    if (x.data == mc.data && (turned || leading != gc.leading))
      a.fail(invalid(std::string("C is ") + name +
                     ", which is possible only without a transpose "
                     "and with the same leading dimension"));
  };
  if (!of_a.is(0)) in_place("A", ma, turn_a, ga.leading);
  if (!of_b.is(0)) in_place("B", mb, turn_b, gb.leading);
  return a ? geam(size, of_a, ma, of_b, mb, mc, context.stream) : a.status();
}

Status call_dgmm(const Context& context, cublasSideMode_t side, int64_t m, int64_t n,
                 GivenMatrix ga, GivenVector gx, GivenMatrix gc) {
  Arguments a(context);
  a.require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT, "mode", side,
            "CUBLAS_SIDE_LEFT (0) or CUBLAS_SIDE_RIGHT (1)");
  a.size("m", m);
  a.size("n", n);
  a.leading("lda", ga.leading, m);
  a.leading("ldc", gc.leading, m);
  if (!a || m == 0 || n == 0) return a.status();
  const bool left = side == CUBLAS_SIDE_LEFT;
  const Vector x = a.vector("x", gx.data, a.format("x", gx.type), left ? m : n, gx.increment);
  const Matrices ma = matrices(a, "A", ga, m, n, 1, false);
  const Matrices mc = matrices(a, "C", gc, m, n, 1, false);
  return a ? dgmm({m, n, 1}, left, ma, x, mc, context.stream) : a.status();
}

}  // namespace ridge::cublas
