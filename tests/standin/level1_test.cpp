// Vectors against float64: increments of both signs, lengths down to 0, both pointer modes, f16 and
// bf16 through the functions whose names end in Ex.
#include "cublas_check.h"

namespace ridge::standin {
namespace {

constexpr int kLengths[] = {0, 1, 2, 31, 257, 5000};
struct Increments {
  int x, y;
};
constexpr Increments kIncrements[] = {{1, 1}, {2, 3}, {-1, 1}, {1, -2}, {-3, -1}};

// A vector in memory between whose elements lies NaN.
template <class T>
struct Strided {
  int n, increment;
  std::vector<T> memory;
  Strided(int length, int inc, uint64_t seed)
      : n(length),
        increment(inc),
        memory(reach(n, inc) + 1, from_double<T>(std::numeric_limits<double>::quiet_NaN())) {
    for (int i = 0; i < n; ++i)
      memory[place(i, n, inc)] = from_double<T>(number(uint64_t(i), seed));
  }
  double at(int i) const { return to_double(memory[place(i, n, increment)]); }
};

// Elements are what `wanted(i)` says, and what lies between them is as it was.
template <class T, class F>
void check(const std::vector<T>& got, const Strided<T>& before, double tolerance, F wanted) {
  std::vector<bool> is_element(got.size(), false);
  for (int i = 0; i < before.n; ++i) {
    const size_t at = place(i, before.n, before.increment);
    is_element[at] = true;
    const double value = wanted(i);
    expect_near(to_double(got[at]), value, tolerance + std::abs(value) * Format<T>::epsilon * 1.01,
                "element " + std::to_string(i) + " of " + std::to_string(before.n) + " by " +
                    std::to_string(before.increment));
    if (testing::Test::HasFailure()) return;
  }
  for (size_t at = 0; at < got.size(); ++at)
    if (!is_element[at]) {
      ASSERT_EQ(std::memcmp(&got[at], &before.memory[at], sizeof(T)), 0) << "gap " << at;
    }
}

// Calls f(T{}) with each format.
template <class F>
void each_format(F f) {
  f(float());
  f(double());
  f(__half());
  f(__nv_bfloat16());
}
// What the functions that are not called Ex take.
template <class T>
constexpr bool kPlain = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T>
class Level1 {
 public:
  using Compute = typename Format<T>::Compute;
  static constexpr cudaDataType type = Format<T>::type, compute = Format<Compute>::type;

  static cublasStatus_t axpy(cublasHandle_t h, int n, const Compute* alpha, const T* x, int incx,
                             T* y, int incy) {
    if constexpr (std::is_same_v<T, float>) return cublasSaxpy(h, n, alpha, x, incx, y, incy);
    else if constexpr (std::is_same_v<T, double>)
      return cublasDaxpy_64(h, n, alpha, x, incx, y, incy);
    else return cublasAxpyEx(h, n, alpha, compute, x, type, incx, y, type, incy, compute);
  }
  static cublasStatus_t scal(cublasHandle_t h, int n, const Compute* alpha, T* x, int incx) {
    if constexpr (std::is_same_v<T, float>) return cublasSscal(h, n, alpha, x, incx);
    else if constexpr (std::is_same_v<T, double>) return cublasDscal_64(h, n, alpha, x, incx);
    else return cublasScalEx(h, n, alpha, compute, x, type, incx, compute);
  }
  static cublasStatus_t dot(cublasHandle_t h, int n, const T* x, int incx, const T* y, int incy,
                            T* result) {
    if constexpr (std::is_same_v<T, float>) return cublasSdot(h, n, x, incx, y, incy, result);
    else if constexpr (std::is_same_v<T, double>)
      return cublasDdot_64(h, n, x, incx, y, incy, result);
    else return cublasDotEx(h, n, x, type, incx, y, type, incy, result, type, compute);
  }
  static cublasStatus_t asum(cublasHandle_t h, int n, const T* x, int incx, T* result) {
    if constexpr (std::is_same_v<T, float>) return cublasSasum(h, n, x, incx, result);
    else if constexpr (std::is_same_v<T, double>) return cublasDasum_64(h, n, x, incx, result);
    else return cublasAsumEx(h, n, x, type, incx, result, type, compute);
  }
  static cublasStatus_t nrm2(cublasHandle_t h, int n, const T* x, int incx, T* result) {
    if constexpr (std::is_same_v<T, float>) return cublasSnrm2(h, n, x, incx, result);
    else if constexpr (std::is_same_v<T, double>) return cublasDnrm2_64(h, n, x, incx, result);
    else return cublasNrm2Ex(h, n, x, type, incx, result, type, compute);
  }
};

TEST(Level1, Axpy) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    each_format([&]<class T>(T) {
      using C = typename Format<T>::Compute;
      for (const int n : kLengths)
        for (const auto inc : kIncrements) {
          const Strided<T> x(n, inc.x, 1), y(n, inc.y, 2);
          const Device<T> dx(x.memory), dy(y.memory);
          ASSERT_EQ(
              Level1<T>::axpy(handle, n, handle.scalar(C(1.5)), dx.data(), inc.x, dy.data(), inc.y),
              CUBLAS_STATUS_SUCCESS);
          check(dy.values(), y, 8 * Format<C>::epsilon,
                [&](int i) { return 1.5 * x.at(i) + y.at(i); });
          ASSERT_FALSE(testing::Test::HasFailure()) << "n " << n;
        }
    });
  }
}

// With alpha = 0, y stays as it is, whatever x holds.
TEST(Level1, AxpyByNothing) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    const std::vector<float> x(100, NAN), y = numbers<float>(100, 3);
    const Device<float> dx(x), dy(y);
    ASSERT_EQ(cublasSaxpy(handle, 100, handle.scalar(0.0f), dx.data(), 1, dy.data(), 1),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(dy.values(), y);
  }
}

TEST(Level1, Scal) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    each_format([&]<class T>(T) {
      using C = typename Format<T>::Compute;
      for (const int n : kLengths)
        for (const int inc : {1, 3}) {
          const Strided<T> x(n, inc, 1);
          const Device<T> dx(x.memory);
          ASSERT_EQ(Level1<T>::scal(handle, n, handle.scalar(C(-0.75)), dx.data(), inc),
                    CUBLAS_STATUS_SUCCESS);
          check(dx.values(), x, 0, [&](int i) { return -0.75 * x.at(i); });
          ASSERT_FALSE(testing::Test::HasFailure()) << "n " << n;
        }
    });
  }
}

template <class T>
void try_copy_and_swap(int n, Increments inc) {
  Handle handle;
  const Strided<T> x(n, inc.x, 1), y(n, inc.y, 2);
  {
    const Device<T> dx(x.memory), dy(y.memory);
    if constexpr (std::is_same_v<T, float>)
      ASSERT_EQ(cublasScopy(handle, n, dx.data(), inc.x, dy.data(), inc.y), CUBLAS_STATUS_SUCCESS);
    else if constexpr (std::is_same_v<T, double>)
      ASSERT_EQ(cublasDcopy(handle, n, dx.data(), inc.x, dy.data(), inc.y), CUBLAS_STATUS_SUCCESS);
    else
      ASSERT_EQ(cublasCopyEx(handle, n, dx.data(), Format<T>::type, inc.x, dy.data(),
                             Format<T>::type, inc.y),
                CUBLAS_STATUS_SUCCESS);
    check(dy.values(), y, 0, [&](int i) { return x.at(i); });
  }
  const Device<T> dx(x.memory), dy(y.memory);
  if constexpr (std::is_same_v<T, float>)
    ASSERT_EQ(cublasSswap(handle, n, dx.data(), inc.x, dy.data(), inc.y), CUBLAS_STATUS_SUCCESS);
  else if constexpr (std::is_same_v<T, double>)
    ASSERT_EQ(cublasDswap_64(handle, n, dx.data(), inc.x, dy.data(), inc.y), CUBLAS_STATUS_SUCCESS);
  else
    ASSERT_EQ(cublasSwapEx(handle, n, dx.data(), Format<T>::type, inc.x, dy.data(), Format<T>::type,
                           inc.y),
              CUBLAS_STATUS_SUCCESS);
  check(dx.values(), x, 0, [&](int i) { return y.at(i); });
  check(dy.values(), y, 0, [&](int i) { return x.at(i); });
}

TEST(Level1, CopyAndSwap) {
  for (const int n : kLengths)
    for (const auto inc : kIncrements)
      each_format([&]<class T>(T) { try_copy_and_swap<T>(n, inc); });
}

template <class T>
void try_rot(Handle& handle, int n, Increments inc) {
  const T c = T(0.625), s = T(-1.25);
  const Strided<T> x(n, inc.x, 1), y(n, inc.y, 2);
  const Device<T> dx(x.memory), dy(y.memory);
  cublasStatus_t status;
  if constexpr (std::is_same_v<T, float>)
    status = cublasSrot(handle, n, dx.data(), inc.x, dy.data(), inc.y, handle.scalar(c),
                        handle.scalar(s));
  else
    status = cublasDrot_64(handle, n, dx.data(), inc.x, dy.data(), inc.y, handle.scalar(c),
                           handle.scalar(s));
  ASSERT_EQ(status, CUBLAS_STATUS_SUCCESS);
  const double tolerance = 8 * Format<T>::epsilon;
  check(dx.values(), x, tolerance, [&](int i) { return c * x.at(i) + s * y.at(i); });
  check(dy.values(), y, tolerance, [&](int i) { return c * y.at(i) - s * x.at(i); });
}

TEST(Level1, Rot) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const int n : kLengths)
      for (const auto inc : kIncrements) {
        try_rot<float>(handle, n, inc);
        try_rot<double>(handle, n, inc);
      }
  }
}

TEST(Level1, Dot) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    each_format([&]<class T>(T) {
      for (const int n : kLengths)
        for (const auto inc : kIncrements) {
          const Strided<T> x(n, inc.x, 1), y(n, inc.y, 2);
          const Device<T> dx(x.memory), dy(y.memory);
          const T got = handle.template result<T>([&](T* result) {
            return Level1<T>::dot(handle, n, dx.data(), inc.x, dy.data(), inc.y, result);
          });
          double sum = 0, sizes = 0;
          for (int i = 0; i < n; ++i) {
            sum += x.at(i) * y.at(i);
            sizes += std::abs(x.at(i) * y.at(i));
          }
          expect_near(to_double(got), sum,
                      sizes * Format<typename Format<T>::Compute>::epsilon * 64 +
                          std::abs(sum) * Format<T>::epsilon * 1.01,
                      "dot of " + std::to_string(n) + " by " + std::to_string(inc.x) + ", " +
                          std::to_string(inc.y));
          ASSERT_FALSE(testing::Test::HasFailure());
        }
    });
  }
}

TEST(Level1, AsumAndNrm2) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    each_format([&]<class T>(T) {
      for (const int n : kLengths)
        for (const int inc : {1, 2}) {
          const Strided<T> x(n, inc, 1);
          const Device<T> dx(x.memory);
          const T asum = handle.template result<T>(
              [&](T* result) { return Level1<T>::asum(handle, n, dx.data(), inc, result); });
          const T nrm2 = handle.template result<T>(
              [&](T* result) { return Level1<T>::nrm2(handle, n, dx.data(), inc, result); });
          double sum = 0, squares = 0;
          for (int i = 0; i < n; ++i) {
            sum += std::abs(x.at(i));
            squares += x.at(i) * x.at(i);
          }
          const double epsilon =
              Format<typename Format<T>::Compute>::epsilon * 64 + Format<T>::epsilon * 1.01;
          expect_near(to_double(asum), sum, sum * epsilon, "asum of " + std::to_string(n));
          expect_near(to_double(nrm2), std::sqrt(squares), std::sqrt(squares) * epsilon,
                      "nrm2 of " + std::to_string(n));
          ASSERT_FALSE(testing::Test::HasFailure());
        }
    });
  }
}

// Squares would overflow or vanish.
template <class T>
void try_nrm2(double value, int n) {
  Handle handle;
  const auto values = std::vector<T>(size_t(n), T(value));
  const Device<T> x(values);
  const T got =
      handle.result<T>([&](T* result) { return Level1<T>::nrm2(handle, n, x.data(), 1, result); });
  const double wanted = value * std::sqrt(double(n));
  expect_near(got, wanted, wanted * 64 * Format<T>::epsilon, "nrm2 of " + std::to_string(value));
}
TEST(Level1, Nrm2OfExtremes) {
  try_nrm2<float>(1e30, 100);
  try_nrm2<float>(1e-30, 100);
  try_nrm2<double>(1e300, 100);
  try_nrm2<double>(1e-300, 100);
  try_nrm2<double>(1e150, 100);
  Handle handle;
  const Device<double> mixed({1e300, 1, 1e-300}), infinite({INFINITY, 1}), nan({NAN, 1e300});
  const auto nrm2 = [&](const Device<double>& x, int n) {
    return handle.result<double>(
        [&](double* result) { return cublasDnrm2(handle, n, x.data(), 1, result); });
  };
  EXPECT_DOUBLE_EQ(nrm2(mixed, 3), 1e300);
  EXPECT_EQ(nrm2(infinite, 2), INFINITY);
  EXPECT_TRUE(std::isnan(nrm2(nan, 2)));
}

// The first of equals, counted from 1 in steps of the increment.
template <class T, class Index>
void try_extremes(Handle& handle, int n, int inc) {
  Strided<T> x(n, inc, 5);
  if (n > 40) {  // equal sizes with both signs
    x.memory[place(30, n, inc)] = from_double<T>(-2);
    x.memory[place(40, n, inc)] = from_double<T>(2);
    x.memory[place(35, n, inc)] = x.memory[place(20, n, inc)] = from_double<T>(0);
  }
  const Device<T> dx(x.memory);
  Index greatest = 0, smallest = 0;
  for (int i = 0; i < n; ++i) {
    if (greatest == 0 || std::abs(x.at(i)) > std::abs(x.at(int(greatest) - 1))) greatest = i + 1;
    if (smallest == 0 || std::abs(x.at(i)) < std::abs(x.at(int(smallest) - 1))) smallest = i + 1;
  }
  const auto got = [&](bool max) {
    return handle.result<Index>([&](Index* result) {
      if constexpr (std::is_same_v<Index, int64_t>)
        return max ? cublasIamaxEx_64(handle, n, dx.data(), Format<T>::type, inc, result)
                   : cublasIaminEx_64(handle, n, dx.data(), Format<T>::type, inc, result);
      else if constexpr (std::is_same_v<T, float>)
        return max ? cublasIsamax(handle, n, dx.data(), inc, result)
                   : cublasIsamin(handle, n, dx.data(), inc, result);
      else if constexpr (std::is_same_v<T, double>)
        return max ? cublasIdamax(handle, n, dx.data(), inc, result)
                   : cublasIdamin(handle, n, dx.data(), inc, result);
      else
        return max ? cublasIamaxEx(handle, n, dx.data(), Format<T>::type, inc, result)
                   : cublasIaminEx(handle, n, dx.data(), Format<T>::type, inc, result);
    });
  };
  EXPECT_EQ(got(true), greatest) << n << " by " << inc;
  EXPECT_EQ(got(false), smallest) << n << " by " << inc;
}

TEST(Level1, AmaxAndAmin) {
  for (const auto mode : kPointerModes) {
    Handle handle(mode);
    for (const int n : kLengths)
      for (const int inc : {1, 3}) {
        try_extremes<float, int>(handle, n, inc);
        try_extremes<double, int>(handle, n, inc);
        try_extremes<__half, int>(handle, n, inc);
        try_extremes<float, int64_t>(handle, n, inc);
      }
  }
}

// As in the first BLAS: such vectors have no elements.
TEST(Level1, IncrementsWithoutDirection) {
  Handle handle;
  const Device<float> x(numbers<float>(10, 1));
  for (const int inc : {0, -1}) {
    float sum = 7;
    int index = 7;
    ASSERT_EQ(cublasSasum(handle, 5, x.data(), inc, &sum), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasIsamax(handle, 5, x.data(), inc, &index), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(sum, 0) << inc;
    EXPECT_EQ(index, 0) << inc;
    const auto before = x.values();
    ASSERT_EQ(cublasSscal(handle, 5, handle.scalar(3.0f), x.data(), inc), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(x.values(), before) << inc;
  }
}

}  // namespace
}  // namespace ridge::standin
