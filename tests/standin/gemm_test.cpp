// Products of matrices against float64: columns one after another, all transposes, leading
// dimensions, alpha and beta from host and device, batches of strides and of pointers.
#include "cublas_check.h"

namespace ridge::standin {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  int m = 1, n = 1, k = 1;
  double alpha = 1, beta = 0;
  int pad_a = 0, pad_b = 0, pad_c = 0;  // elements between columns
  int batch = 1;
  bool same_a = false;  // one A for the whole batch

  int rows_a() const { return op_a == CUBLAS_OP_N ? m : k; }
  int cols_a() const { return op_a == CUBLAS_OP_N ? k : m; }
  int rows_b() const { return op_b == CUBLAS_OP_N ? k : n; }
  int cols_b() const { return op_b == CUBLAS_OP_N ? n : k; }
  int lda() const { return std::max(rows_a(), 1) + pad_a; }
  int ldb() const { return std::max(rows_b(), 1) + pad_b; }
  int ldc() const { return std::max(m, 1) + pad_c; }
  long long stride_a() const { return same_a ? 0 : (long long)lda() * cols_a() + 3; }
  long long stride_b() const { return (long long)ldb() * cols_b() + 5; }
  long long stride_c() const { return (long long)ldc() * n + 1; }
  std::string text() const {
    return std::string(op_a ? "T" : "N") + (op_b ? "T" : "N") + " " + std::to_string(m) + "x" +
           std::to_string(n) + "x" + std::to_string(k) + " batch " + std::to_string(batch) +
           " alpha " + std::to_string(alpha) + " beta " + std::to_string(beta) + " pads " +
           std::to_string(pad_a) + "," + std::to_string(pad_b) + "," + std::to_string(pad_c);
  }
};

// A, B and C of a case, and what C has to be. What must not be read is NaN: padding, C where beta
// is 0, A and B where alpha is 0.
template <class T, class Out>
struct Data {
  Case c;
  std::vector<T> a, b;
  std::vector<Out> before;

  explicit Data(const Case& wanted)
      : c(wanted),
        a(size_t(c.stride_a() * c.batch + (long long)c.lda() * c.cols_a() + 1),
          from_double<T>(kNan)),
        b(size_t(c.stride_b() * c.batch + 1), from_double<T>(kNan)),
        before(size_t(c.stride_c() * c.batch + 1), from_double<Out>(kNan)) {
    for (int i = 0; i < c.batch; ++i) {
      if (c.alpha != 0) {
        fill(a, c.rows_a(), c.cols_a(), c.lda(), i * c.stride_a(), c.same_a ? 1 : 1 + i);
        fill(b, c.rows_b(), c.cols_b(), c.ldb(), i * c.stride_b(), 1000 + i);
      }
      if (c.beta != 0) fill(before, c.m, c.n, c.ldc(), i * c.stride_c(), 2000 + i);
    }
  }
  template <class E>
  static void fill(std::vector<E>& to, int rows, int cols, int ld, long long start, int seed) {
    for (int col = 0; col < cols; ++col)
      for (int row = 0; row < rows; ++row)
        to[size_t(start + (long long)col * ld + row)] =
            from_double<E>(number(uint64_t(col) * 4096 + uint64_t(row), uint64_t(seed)));
  }
  double a_at(int batch, int row, int k) const {
    const long long place =
        c.op_a == CUBLAS_OP_N ? row + (long long)k * c.lda() : k + (long long)row * c.lda();
    return to_double(a[size_t(batch * c.stride_a() + place)]);
  }
  double b_at(int batch, int k, int col) const {
    const long long place =
        c.op_b == CUBLAS_OP_N ? k + (long long)col * c.ldb() : col + (long long)k * c.ldb();
    return to_double(b[size_t(batch * c.stride_b() + place)]);
  }

  // `sum_epsilon` is the rounding error of one step of a sum.
  void check(const std::vector<Out>& got, double sum_epsilon = 0) const {
    if (sum_epsilon == 0) sum_epsilon = Format<typename Format<T>::Compute>::epsilon;
    std::vector<bool> is_result(got.size(), false);
    for (int i = 0; i < c.batch; ++i)
      for (int col = 0; col < c.n; ++col)
        for (int row = 0; row < c.m; ++row) {
          const auto at = size_t(i * c.stride_c() + (long long)col * c.ldc() + row);
          is_result[at] = true;
          double sum = 0, sizes = 0;
          if (c.alpha != 0)
            for (int k = 0; k < c.k; ++k) {
              const double term = c.alpha * a_at(i, row, k) * b_at(i, k, col);
              sum += term;
              sizes += std::abs(term);
            }
          if (c.beta != 0) {
            const double term = c.beta * to_double(before[at]);
            sum += term;
            sizes += std::abs(term);
          }
          const double tolerance =
              sizes * sum_epsilon * (c.k + 4) + std::abs(sum) * Format<Out>::epsilon * 1.01;
          expect_near(to_double(got[at]), sum, tolerance,
                      c.text() + " at (" + std::to_string(row) + ", " + std::to_string(col) +
                          ") of " + std::to_string(i));
          if (testing::Test::HasFailure()) return;
        }
    for (size_t at = 0; at < got.size(); ++at)
      if (!is_result[at]) {
        ASSERT_EQ(std::memcmp(&got[at], &before[at], sizeof(Out)), 0)
            << c.text() << ": element " << at << " lies between columns and was written";
      }
  }
};

cublasStatus_t gemm(cublasHandle_t h, const Case& c, const float* alpha, const float* a,
                    const float* b, const float* beta, float* out) {
  return cublasSgemm(h, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a, c.lda(), b, c.ldb(), beta, out,
                     c.ldc());
}
cublasStatus_t gemm(cublasHandle_t h, const Case& c, const double* alpha, const double* a,
                    const double* b, const double* beta, double* out) {
  return cublasDgemm_64(h, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a, c.lda(), b, c.ldb(), beta, out,
                        c.ldc());
}
cublasStatus_t gemm(cublasHandle_t h, const Case& c, const __half* alpha, const __half* a,
                    const __half* b, const __half* beta, __half* out) {
  return cublasHgemm(h, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a, c.lda(), b, c.ldb(), beta, out,
                     c.ldc());
}

// Sums of NVIDIA's Hgemm are f16 where the hardware is faster that way.
template <class T>
double sums_in() {
  return std::is_same_v<T, __half> && !is_standin() ? Format<__half>::epsilon : 0;
}

template <class T>
void try_gemm(Handle& handle, const Case& c) {
  const Data<T, T> data(c);
  const Device<T> a(data.a), b(data.b), out(data.before);
  const T* const alpha = handle.scalar(from_double<T>(c.alpha));
  const T* const beta = handle.scalar(from_double<T>(c.beta));
  ASSERT_EQ(gemm(handle, c, alpha, a.data(), b.data(), beta, out.data()), CUBLAS_STATUS_SUCCESS);
  data.check(out.values(), sums_in<T>());
}

template <class T, class Out>
void try_gemm_ex(Handle& handle, const Case& c, cublasComputeType_t compute) {
  using Scalar = typename Format<T>::Compute;
  const Data<T, Out> data(c);
  const Device<T> a(data.a), b(data.b);
  const Device<Out> out(data.before);
  ASSERT_EQ(cublasGemmEx(handle, c.op_a, c.op_b, c.m, c.n, c.k, handle.scalar(Scalar(c.alpha)),
                         a.data(), Format<T>::type, c.lda(), b.data(), Format<T>::type, c.ldb(),
                         handle.scalar(Scalar(c.beta)), out.data(), Format<Out>::type, c.ldc(),
                         compute, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  data.check(out.values());
}

constexpr cublasOperation_t kOps[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

TEST(Gemm, AllTransposesAndLeadingDimensions) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const auto op_a : kOps)
      for (const auto op_b : kOps)
        for (const int pad : {0, 1, 5}) {
          const Case c = {.op_a = op_a,
                          .op_b = op_b,
                          .m = 37,
                          .n = 19,
                          .k = 23,
                          .alpha = 1.5,
                          .beta = -0.5,
                          .pad_a = pad,
                          .pad_b = 2 * pad,
                          .pad_c = 3 * pad};
          try_gemm<float>(handle, c);
          try_gemm<double>(handle, c);
          try_gemm<__half>(handle, c);
          if (HasFailure()) return;
        }
  }
}

TEST(Gemm, SizesDownToNothing) {
  Handle handle;
  for (const int m : {0, 1, 2, 17, 64})
    for (const int n : {0, 1, 3, 64})
      for (const int k : {0, 1, 5, 64})
        for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
          const Case c = {
              .op_a = op, .op_b = op, .m = m, .n = n, .k = k, .alpha = 2, .beta = 1, .pad_c = 1};
          try_gemm<float>(handle, c);
          try_gemm<double>(handle, c);
          if (HasFailure()) return;
        }
}

// With beta = 0, C may hold anything; with alpha = 0, A and B may. Both are NaN then.
TEST(Gemm, FactorsOfZero) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const double alpha : {0.0, 1.0, -2.0})
      for (const double beta : {0.0, 1.0, 0.25}) {
        const Case c = {.m = 33, .n = 18, .k = 40, .alpha = alpha, .beta = beta};
        try_gemm<float>(handle, c);
        try_gemm<double>(handle, c);
        try_gemm<__half>(handle, c);
        if (HasFailure()) return;
      }
  }
}

TEST(Gemm, NothingToSumOver) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const double beta : {0.0, 1.0, 3.0}) {
      try_gemm<float>(handle, {.m = 9, .n = 7, .k = 0, .beta = beta, .pad_c = 2});
      try_gemm<double>(handle, {.m = 9, .n = 7, .k = 0, .beta = beta, .pad_c = 2});
    }
  }
}

TEST(Gemm, LargerThanATile) {
  Handle handle;
  for (const auto op_a : {CUBLAS_OP_N, CUBLAS_OP_T})
    for (const auto op_b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      const Case c = {.op_a = op_a, .op_b = op_b, .m = 131, .n = 140, .k = 133};
      try_gemm<float>(handle, c);
      try_gemm<__half>(handle, c);
      if (HasFailure()) return;
    }
}

TEST(GemmEx, FormatsAndComputeTypes) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const double beta : {0.0, 0.5}) {
      const Case c = {.op_a = CUBLAS_OP_T,
                      .m = 40,
                      .n = 24,
                      .k = 48,
                      .alpha = 1.25,
                      .beta = beta,
                      .pad_a = 8,
                      .pad_c = 8};
      try_gemm_ex<float, float>(handle, c, CUBLAS_COMPUTE_32F);
      try_gemm_ex<float, float>(handle, c, CUBLAS_COMPUTE_32F_PEDANTIC);
      try_gemm_ex<__half, __half>(handle, c, CUBLAS_COMPUTE_32F);
      try_gemm_ex<__half, float>(handle, c, CUBLAS_COMPUTE_32F);
      try_gemm_ex<__nv_bfloat16, __nv_bfloat16>(handle, c, CUBLAS_COMPUTE_32F);
      try_gemm_ex<__nv_bfloat16, float>(handle, c, CUBLAS_COMPUTE_32F);
      try_gemm_ex<double, double>(handle, c, CUBLAS_COMPUTE_64F);
      if (HasFailure()) return;
    }
  }
}

// Parts of one larger matrix: A above, C beside it.
TEST(Gemm, PartsOfOneMatrix) {
  constexpr int kSize = 24, kHalf = 12;
  for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    Handle handle;
    const std::vector<float> values = numbers<float>(size_t(kSize * kSize), 7);
    const Device<float> whole(values);
    float* const corner = whole.data() + kHalf + kHalf * kSize;  // -= lower left * upper right
    ASSERT_EQ(cublasSgemm(handle, op, CUBLAS_OP_N, kHalf, kHalf, kHalf, handle.scalar(-1.0f),
                          whole.data() + kHalf, kSize, whole.data() + kHalf * kSize, kSize,
                          handle.scalar(1.0f), corner, kSize),
              CUBLAS_STATUS_SUCCESS);
    const auto got = whole.values();
    for (int col = 0; col < kSize; ++col)
      for (int row = 0; row < kSize; ++row) {
        double wanted = values[size_t(row + col * kSize)];
        if (row >= kHalf && col >= kHalf)
          for (int k = 0; k < kHalf; ++k) {
            const int in_a =
                op == CUBLAS_OP_N ? row + k * kSize : kHalf + k + (row - kHalf) * kSize;
            wanted -= double(values[size_t(in_a)]) * values[size_t(k + col * kSize)];
          }
        expect_near(got[size_t(row + col * kSize)], wanted, 1e-4,
                    std::to_string(row) + ", " + std::to_string(col));
      }
  }
}

// --- Batches ---

cublasStatus_t strided(cublasHandle_t h, const Case& c, const float* alpha, const float* a,
                       const float* b, const float* beta, float* out) {
  return cublasSgemmStridedBatched(h, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a, c.lda(),
                                   c.stride_a(), b, c.ldb(), c.stride_b(), beta, out, c.ldc(),
                                   c.stride_c(), c.batch);
}
cublasStatus_t strided(cublasHandle_t h, const Case& c, const double* alpha, const double* a,
                       const double* b, const double* beta, double* out) {
  return cublasDgemmStridedBatched(h, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a, c.lda(),
                                   c.stride_a(), b, c.ldb(), c.stride_b(), beta, out, c.ldc(),
                                   c.stride_c(), c.batch);
}
cublasStatus_t strided(cublasHandle_t h, const Case& c, const __half* alpha, const __half* a,
                       const __half* b, const __half* beta, __half* out) {
  return cublasHgemmStridedBatched(h, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a, c.lda(),
                                   c.stride_a(), b, c.ldb(), c.stride_b(), beta, out, c.ldc(),
                                   c.stride_c(), c.batch);
}
cublasStatus_t batched(cublasHandle_t h, const Case& c, const float* alpha, const float* const* a,
                       const float* const* b, const float* beta, float* const* out) {
  return cublasSgemmBatched(h, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a, c.lda(), b, c.ldb(), beta,
                            out, c.ldc(), c.batch);
}
cublasStatus_t batched(cublasHandle_t h, const Case& c, const double* alpha, const double* const* a,
                       const double* const* b, const double* beta, double* const* out) {
  return cublasDgemmBatched(h, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a, c.lda(), b, c.ldb(), beta,
                            out, c.ldc(), c.batch);
}
cublasStatus_t batched(cublasHandle_t h, const Case& c, const __half* alpha, const __half* const* a,
                       const __half* const* b, const __half* beta, __half* const* out) {
  return cublasHgemmBatched(h, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a, c.lda(), b, c.ldb(), beta,
                            out, c.ldc(), c.batch);
}

// The matrices of a batch, for functions that want pointers to them.
template <class T>
std::vector<T*> pointers(T* data, long long stride, int batch) {
  std::vector<T*> all;
  for (int i = 0; i < batch; ++i) all.push_back(data + i * stride);
  return all;
}

template <class T>
void try_batches(Handle& handle, const Case& c) {
  const Data<T, T> data(c);
  const Device<T> a(data.a), b(data.b), out(data.before), behind(data.before);
  const T* const alpha = handle.scalar(from_double<T>(c.alpha));
  const T* const beta = handle.scalar(from_double<T>(c.beta));
  ASSERT_EQ(strided(handle, c, alpha, a.data(), b.data(), beta, out.data()), CUBLAS_STATUS_SUCCESS);
  data.check(out.values(), sums_in<T>());
  const Device<T*> pa(pointers(a.data(), c.stride_a(), c.batch));
  const Device<T*> pb(pointers(b.data(), c.stride_b(), c.batch));
  const Device<T*> pc(pointers(behind.data(), c.stride_c(), c.batch));
  ASSERT_EQ(batched(handle, c, alpha, pa.data(), pb.data(), beta, pc.data()),
            CUBLAS_STATUS_SUCCESS);
  data.check(behind.values(), sums_in<T>());
}

TEST(GemmBatched, StridesAndPointers) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const auto op_a : {CUBLAS_OP_N, CUBLAS_OP_T})
      for (const auto op_b : {CUBLAS_OP_N, CUBLAS_OP_T})
        for (const double beta : {0.0, 2.0}) {
          Case c = {.op_a = op_a,
                    .op_b = op_b,
                    .m = 21,
                    .n = 10,
                    .k = 16,
                    .alpha = -1.5,
                    .beta = beta,
                    .pad_a = 3,
                    .pad_b = 1,
                    .pad_c = 2,
                    .batch = 5};
          try_batches<float>(handle, c);
          try_batches<double>(handle, c);
          try_batches<__half>(handle, c);
          c.same_a = true;
          try_batches<float>(handle, c);
          if (HasFailure()) return;
        }
  }
}

TEST(GemmBatched, NoneAndNothingToSumOver) {
  Handle handle;
  try_batches<float>(handle, {.m = 4, .n = 5, .k = 6, .beta = 1, .batch = 0});
  try_batches<float>(handle, {.m = 4, .n = 5, .k = 0, .beta = 0.5, .batch = 3});
  try_batches<double>(handle, {.m = 4, .n = 5, .k = 0, .beta = 0, .batch = 3});
}

template <class T, class Out>
void try_batches_ex(Handle& handle, const Case& c, cublasComputeType_t compute) {
  using Scalar = typename Format<T>::Compute;
  const Data<T, Out> data(c);
  const Device<T> a(data.a), b(data.b);
  const Device<Out> out(data.before), behind(data.before);
  const Scalar* const alpha = handle.scalar(Scalar(c.alpha));
  const Scalar* const beta = handle.scalar(Scalar(c.beta));
  const auto in = Format<T>::type;
  ASSERT_EQ(cublasGemmStridedBatchedEx(handle, c.op_a, c.op_b, c.m, c.n, c.k, alpha, a.data(), in,
                                       c.lda(), c.stride_a(), b.data(), in, c.ldb(), c.stride_b(),
                                       beta, out.data(), Format<Out>::type, c.ldc(), c.stride_c(),
                                       c.batch, compute, CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  data.check(out.values());
  const auto untyped = [](auto* first, long long stride, int batch) {
    std::vector<void*> all;
    for (int i = 0; i < batch; ++i) all.push_back(first + i * stride);
    return all;
  };
  const Device<void*> va(untyped(a.data(), c.stride_a(), c.batch));
  const Device<void*> vb(untyped(b.data(), c.stride_b(), c.batch));
  const Device<void*> vc(untyped(behind.data(), c.stride_c(), c.batch));
  ASSERT_EQ(
      cublasGemmBatchedEx_64(handle, c.op_a, c.op_b, c.m, c.n, c.k, alpha, va.data(), in, c.lda(),
                             vb.data(), in, c.ldb(), beta, vc.data(), Format<Out>::type, c.ldc(),
                             c.batch, compute, CUBLAS_GEMM_DEFAULT),
      CUBLAS_STATUS_SUCCESS);
  data.check(behind.values());
}

TEST(GemmBatchedEx, Formats) {
  Handle handle;
  const Case c = {
      .op_b = CUBLAS_OP_T, .m = 32, .n = 16, .k = 24, .alpha = 0.5, .beta = 0.25, .batch = 4};
  try_batches_ex<float, float>(handle, c, CUBLAS_COMPUTE_32F);
  try_batches_ex<__half, __half>(handle, c, CUBLAS_COMPUTE_32F);
  try_batches_ex<__nv_bfloat16, __nv_bfloat16>(handle, c, CUBLAS_COMPUTE_32F);
  try_batches_ex<__nv_bfloat16, float>(handle, c, CUBLAS_COMPUTE_32F);
  try_batches_ex<double, double>(handle, c, CUBLAS_COMPUTE_64F);
}

// The layout of attention: heads lie beside each other in the rows of one array.
TEST(GemmBatched, InterleavedMatrices) {
  constexpr int kHeads = 3, kWidth = 8, kTokens = 10, kLeading = kHeads * kWidth;
  Handle handle;
  const auto v = numbers<float>(kTokens * kLeading, 1);          // (width, tokens) per head
  const auto s = numbers<float>(kHeads * kTokens * kTokens, 3);  // (tokens, tokens) per head
  const Device<float> dv(v), ds(s), out(std::vector<float>(kTokens * kLeading, NAN));
  ASSERT_EQ(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, kWidth, kTokens, kTokens,
                                      handle.scalar(1.0f), dv.data(), kLeading, kWidth, ds.data(),
                                      kTokens, kTokens * kTokens, handle.scalar(0.0f), out.data(),
                                      kLeading, kWidth, kHeads),
            CUBLAS_STATUS_SUCCESS);
  const auto got = out.values();
  for (int h = 0; h < kHeads; ++h)
    for (int col = 0; col < kTokens; ++col)
      for (int row = 0; row < kWidth; ++row) {
        double wanted = 0;
        for (int t = 0; t < kTokens; ++t)
          wanted += double(v[size_t(t * kLeading + h * kWidth + row)]) *
                    s[size_t(h * kTokens * kTokens + col * kTokens + t)];
        expect_near(got[size_t(col * kLeading + h * kWidth + row)], wanted, 1e-4, "head");
      }
}

}  // namespace
}  // namespace ridge::standin
