// gemv, its batches, ger, geam and dgmm against float64.
#include "cublas_check.h"

namespace ridge::standin {
namespace {

struct Gemv {
  cublasOperation_t op = CUBLAS_OP_N;
  int m = 1, n = 1, pad = 0, incx = 1, incy = 1;
  double alpha = 1, beta = 0;
  int lda() const { return std::max(m, 1) + pad; }
  int length_x() const { return op == CUBLAS_OP_N ? n : m; }
  int length_y() const { return op == CUBLAS_OP_N ? m : n; }
  std::string text() const {
    return std::string(op ? "T " : "N ") + std::to_string(m) + "x" + std::to_string(n) + " pad " +
           std::to_string(pad) + " incx " + std::to_string(incx) + " incy " + std::to_string(incy) +
           " alpha " + std::to_string(alpha) + " beta " + std::to_string(beta);
  }
};

// What y has to be: `a` is (m, n) in columns, x and y lie as the increments say.
template <class T, class Out>
void check(const Gemv& g, const T* a, const T* x, const Out* before, const Out* got) {
  for (int i = 0; i < g.length_y(); ++i) {
    double sum = 0, sizes = 0;
    for (int k = 0; k < g.length_x(); ++k) {
      const int64_t at = g.op == CUBLAS_OP_N ? i + int64_t(k) * g.lda() : k + int64_t(i) * g.lda();
      const double term = g.alpha * to_double(a[at]) * to_double(x[place(k, g.length_x(), g.incx)]);
      sum += term;
      sizes += std::abs(term);
    }
    const size_t at = place(i, g.length_y(), g.incy);
    if (g.beta != 0) {
      sum += g.beta * to_double(before[at]);
      sizes += std::abs(g.beta * to_double(before[at]));
    }
    expect_near(to_double(got[at]), sum,
                sizes * Format<typename Format<T>::Compute>::epsilon * (g.length_x() + 4) +
                    std::abs(sum) * Format<Out>::epsilon * 1.01,
                g.text() + " at " + std::to_string(i));
    if (testing::Test::HasFailure()) return;
  }
}

cublasStatus_t gemv(cublasHandle_t h, const Gemv& g, const float* alpha, const float* a,
                    const float* x, const float* beta, float* y) {
  return cublasSgemv(h, g.op, g.m, g.n, alpha, a, g.lda(), x, g.incx, beta, y, g.incy);
}
cublasStatus_t gemv(cublasHandle_t h, const Gemv& g, const double* alpha, const double* a,
                    const double* x, const double* beta, double* y) {
  return cublasDgemv_64(h, g.op, g.m, g.n, alpha, a, g.lda(), x, g.incx, beta, y, g.incy);
}

template <class T>
std::vector<T> sparse_y(const Gemv& g) {  // NaN where it must not be read
  std::vector<T> y = numbers<T>(reach(g.length_y(), g.incy) + 1, 3);
  if (g.beta == 0) std::fill(y.begin(), y.end(), from_double<T>(NAN));
  return y;
}

template <class T>
void try_gemv(Handle& handle, const Gemv& g) {
  const auto a = numbers<T>(size_t(g.lda()) * size_t(g.n) + 1, 1);
  const auto x = numbers<T>(reach(g.length_x(), g.incx) + 1, 2);
  const auto y = sparse_y<T>(g);
  const Device<T> da(a), dx(x), dy(y);
  ASSERT_EQ(gemv(handle, g, handle.scalar(T(g.alpha)), da.data(), dx.data(),
                 handle.scalar(T(g.beta)), dy.data()),
            CUBLAS_STATUS_SUCCESS);
  check(g, a.data(), x.data(), y.data(), dy.values().data());
}

TEST(Gemv, TransposesAndIncrements) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
      for (const int incx : {1, 2, -1, -3})
        for (const int incy : {1, -2})
          for (const double beta : {0.0, 1.5}) {
            const Gemv g = {.op = op,
                            .m = 45,
                            .n = 70,
                            .pad = 3,
                            .incx = incx,
                            .incy = incy,
                            .alpha = -0.5,
                            .beta = beta};
            try_gemv<float>(handle, g);
            try_gemv<double>(handle, g);
            if (HasFailure()) return;
          }
  }
}

TEST(Gemv, Sizes) {
  Handle handle;
  for (const int m : {1, 2, 33, 300})
    for (const int n : {1, 5, 64, 301})
      for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        try_gemv<float>(handle, {.op = op, .m = m, .n = n});
        try_gemv<double>(handle, {.op = op, .m = m, .n = n});
        if (HasFailure()) return;
      }
}

// With alpha = 0, A and x may hold anything.
TEST(Gemv, ByNothing) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    const Device<float> a(std::vector<float>(100, NAN)), x(std::vector<float>(10, NAN));
    const auto before = numbers<float>(10, 1);
    const Device<float> y(before);
    ASSERT_EQ(cublasSgemv(handle, CUBLAS_OP_N, 10, 10, handle.scalar(0.0f), a.data(), 10, x.data(),
                          1, handle.scalar(2.0f), y.data(), 1),
              CUBLAS_STATUS_SUCCESS);
    const auto got = y.values();
    for (size_t i = 0; i < 10; ++i) EXPECT_EQ(got[i], 2 * before[i]);
  }
}

// Nothing to sum over is nothing to do, as in the first BLAS: y is not even multiplied by beta.
TEST(Gemv, WithoutColumns) {
  Handle handle;
  const auto before = numbers<float>(10, 1);
  const Device<float> y(before), a(before);
  ASSERT_EQ(cublasSgemv(handle, CUBLAS_OP_N, 10, 0, handle.scalar(1.0f), a.data(), 10, a.data(), 1,
                        handle.scalar(2.0f), y.data(), 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(y.values(), before);
}

// --- Batches ---

template <class T, class Out>
struct Batched;
#define RIDGE_BATCHED(T, Out, strided, pointers) \
  template <>                                    \
  struct Batched<T, Out> {                       \
    static constexpr auto by_stride = strided;   \
    static constexpr auto by_pointer = pointers; \
  };
RIDGE_BATCHED(float, float, cublasSgemvStridedBatched, cublasSgemvBatched)
RIDGE_BATCHED(double, double, cublasDgemvStridedBatched, cublasDgemvBatched)
RIDGE_BATCHED(__half, __half, cublasHSHgemvStridedBatched, cublasHSHgemvBatched)
RIDGE_BATCHED(__half, float, cublasHSSgemvStridedBatched, cublasHSSgemvBatched)
RIDGE_BATCHED(__nv_bfloat16, __nv_bfloat16, cublasTSTgemvStridedBatched, cublasTSTgemvBatched)
RIDGE_BATCHED(__nv_bfloat16, float, cublasTSSgemvStridedBatched, cublasTSSgemvBatched)
#undef RIDGE_BATCHED

template <class T, class Out>
void try_batch(Handle& handle, const Gemv& g, int batch) {
  using Scalar = typename Format<T>::Compute;
  const auto stride_a = (long long)g.lda() * g.n + 2;
  const auto stride_x = (long long)reach(g.length_x(), g.incx) + 1;
  const auto stride_y = (long long)reach(g.length_y(), g.incy) + 3;
  const auto a = numbers<T>(size_t(stride_a * batch), 1),
             x = numbers<T>(size_t(stride_x * batch), 2);
  auto y = numbers<Out>(size_t(stride_y * batch), 3);
  if (g.beta == 0) std::fill(y.begin(), y.end(), from_double<Out>(NAN));
  const Device<T> da(a), dx(x);
  const Device<Out> dy(y), behind(y);
  const Scalar* const alpha = handle.scalar(Scalar(g.alpha));
  const Scalar* const beta = handle.scalar(Scalar(g.beta));
  ASSERT_EQ((Batched<T, Out>::by_stride(handle, g.op, g.m, g.n, alpha, da.data(), g.lda(), stride_a,
                                        dx.data(), g.incx, stride_x, beta, dy.data(), g.incy,
                                        stride_y, batch)),
            CUBLAS_STATUS_SUCCESS);
  std::vector<T*> pa, px;
  std::vector<Out*> py;
  for (int i = 0; i < batch; ++i) {
    pa.push_back(da.data() + i * stride_a);
    px.push_back(dx.data() + i * stride_x);
    py.push_back(behind.data() + i * stride_y);
  }
  const Device<T*> dpa(pa), dpx(px);
  const Device<Out*> dpy(py);
  ASSERT_EQ((Batched<T, Out>::by_pointer(handle, g.op, g.m, g.n, alpha, dpa.data(), g.lda(),
                                         dpx.data(), g.incx, beta, dpy.data(), g.incy, batch)),
            CUBLAS_STATUS_SUCCESS);
  const auto got = dy.values(), got_behind = behind.values();
  for (int i = 0; i < batch; ++i)
    for (const auto* result : {&got, &got_behind})
      check(g, a.data() + i * stride_a, x.data() + i * stride_x, y.data() + i * stride_y,
            result->data() + i * stride_y);
}

TEST(GemvBatched, StridesAndPointers) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T})
      for (const int inc : {1, 2, -1})
        for (const double beta : {0.0, 0.5}) {
          const Gemv g = {.op = op,
                          .m = 20,
                          .n = 33,
                          .pad = 4,
                          .incx = inc,
                          .incy = -inc,
                          .alpha = 1.5,
                          .beta = beta};
          try_batch<float, float>(handle, g, 4);
          try_batch<double, double>(handle, g, 4);
          if (inc != 1) continue;
          const Gemv plain = {.op = op, .m = 24, .n = 32, .alpha = 1.5, .beta = beta};
          try_batch<__half, __half>(handle, plain, 3);
          try_batch<__half, float>(handle, plain, 3);
          try_batch<__nv_bfloat16, __nv_bfloat16>(handle, plain, 3);
          try_batch<__nv_bfloat16, float>(handle, plain, 3);
          if (HasFailure()) return;
        }
  }
}

// --- ger ---

template <class T>
void try_ger(Handle& handle, int m, int n, int incx, int incy, double alpha) {
  const int lda = m + 2;
  const auto x = numbers<T>(reach(m, incx), 1), y = numbers<T>(reach(n, incy), 2),
             a = numbers<T>(size_t(lda * n), 3);
  const Device<T> dx(x), dy(y), da(a);
  const T* const factor = handle.scalar(T(alpha));
  cublasStatus_t status;
  if constexpr (std::is_same_v<T, float>)
    status = cublasSger(handle, m, n, factor, dx.data(), incx, dy.data(), incy, da.data(), lda);
  else
    status = cublasDger_64(handle, m, n, factor, dx.data(), incx, dy.data(), incy, da.data(), lda);
  ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
  const auto got = da.values();
  for (int col = 0; col < n; ++col)
    for (int row = 0; row < lda; ++row) {
      const auto at = size_t(row + col * lda);
      double wanted = a[at];
      if (row < m) wanted += alpha * x[place(row, m, incx)] * y[place(col, n, incy)];
      expect_near(got[at], wanted, row < m ? 16 * Format<T>::epsilon * 8 : 0, "ger");
    }
}

TEST(Ger, Increments) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const int incx : {1, -2})
      for (const int incy : {1, 3, -1})
        for (const double alpha : {0.0, 1.0, -1.5}) {
          try_ger<float>(handle, 37, 21, incx, incy, alpha);
          try_ger<double>(handle, 37, 21, incx, incy, alpha);
        }
  }
}

// --- geam, dgmm ---

template <class T>
cublasStatus_t geam(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                    const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c,
                    int ldc) {
  if constexpr (std::is_same_v<T, float>)
    return cublasSgeam(h, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc);
  else return cublasDgeam_64(h, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc);
}

template <class T>
void try_geam(Handle& handle, cublasOperation_t op_a, cublasOperation_t op_b, double alpha,
              double beta) {
  constexpr int kRows = 19, kCols = 30, kPad = 3;
  const int lda = (op_a ? kCols : kRows) + kPad, ldb = (op_b ? kCols : kRows) + kPad;
  const auto a = numbers<T>(size_t(lda * 40), 1), b = numbers<T>(size_t(ldb * 40), 2);
  const Device<T> da(a), db(b), dc(std::vector<T>(size_t(kRows * kCols), T(NAN)));
  ASSERT_EQ(geam<T>(handle, op_a, op_b, kRows, kCols, handle.scalar(T(alpha)), da.data(), lda,
                    handle.scalar(T(beta)), db.data(), ldb, dc.data(), kRows),
            CUBLAS_STATUS_SUCCESS);
  const auto got = dc.values();
  for (int col = 0; col < kCols; ++col)
    for (int row = 0; row < kRows; ++row) {
      const double of_a = a[size_t(op_a ? col + row * lda : row + col * lda)];
      const double of_b = b[size_t(op_b ? col + row * ldb : row + col * ldb)];
      expect_near(got[size_t(row + col * kRows)], alpha * of_a + beta * of_b,
                  16 * Format<T>::epsilon, "geam");
    }
}

TEST(Geam, SumsAndTransposes) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const auto op_a : {CUBLAS_OP_N, CUBLAS_OP_T})
      for (const auto op_b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        try_geam<float>(handle, op_a, op_b, 1.5, -0.5);
        try_geam<double>(handle, op_a, op_b, 1.5, -0.5);
        try_geam<float>(handle, op_a, op_b, 1, 0);
      }
  }
}

TEST(Geam, InPlace) {
  Handle handle;
  const auto a = numbers<float>(64, 1), b = numbers<float>(64, 2);
  const Device<float> da(a), db(b);
  ASSERT_EQ(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_T, 8, 8, handle.scalar(2.0f), da.data(), 8,
                        handle.scalar(1.0f), db.data(), 8, da.data(), 8),
            CUBLAS_STATUS_SUCCESS);
  const auto got = da.values();
  for (int col = 0; col < 8; ++col)
    for (int row = 0; row < 8; ++row)
      EXPECT_EQ(got[size_t(row + col * 8)],
                2 * a[size_t(row + col * 8)] + b[size_t(col + row * 8)]);
}

TEST(Dgmm, BothSides) {
  Handle handle;
  constexpr int kRows = 13, kCols = 9;
  const auto a = numbers<float>(kRows * kCols, 1);
  for (const auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT})
    for (const int inc : {1, 2, -1}) {
      const int n = side == CUBLAS_SIDE_LEFT ? kRows : kCols;
      const auto x = numbers<float>(reach(n, inc), 2);
      const Device<float> da(a), dx(x), dc(std::vector<float>(kRows * kCols, NAN));
      ASSERT_EQ(cublasSdgmm(handle, side, kRows, kCols, da.data(), kRows, dx.data(), inc, dc.data(),
                            kRows),
                CUBLAS_STATUS_SUCCESS);
      const auto got = dc.values();
      for (int col = 0; col < kCols; ++col)
        for (int row = 0; row < kRows; ++row)
          EXPECT_EQ(got[size_t(row + col * kRows)],
                    a[size_t(row + col * kRows)] *
                        x[place(side == CUBLAS_SIDE_LEFT ? row : col, n, inc)]);
    }
}

}  // namespace
}  // namespace ridge::standin
