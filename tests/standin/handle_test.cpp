// Handles and their settings, copies between host and device, status codes, streams and graphs.
#include <dlfcn.h>

#include <atomic>
#include <thread>

#include "cublas_check.h"

namespace ridge::standin {
namespace {

TEST(Handles, AreMadeAndDestroyed) {
  EXPECT_EQ(cublasCreate(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasDestroy(nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
  cublasHandle_t first = nullptr, second = nullptr;
  ASSERT_EQ(cublasCreate(&first), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasCreate(&second), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_EQ(cublasDestroy(first), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasDestroy(second), CUBLAS_STATUS_SUCCESS);
}

TEST(Handles, WithoutOneNothingRuns) {
  const float one = 1;
  float x = 0;
  EXPECT_EQ(
      cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &x, 1, &x, 1, &one, &x, 1),
      CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(cublasSaxpy(nullptr, 1, &one, &x, 1, &x, 1), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(cublasSetStream(nullptr, nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
  int version = 0;
  EXPECT_EQ(cublasGetVersion(nullptr, &version), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(version / 10000, 13);
}

TEST(Handles, KeepTheirSettings) {
  Handle handle;
  cublasPointerMode_t pointers;
  ASSERT_EQ(cublasGetPointerMode(handle, &pointers), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(pointers, CUBLAS_POINTER_MODE_HOST);
  cublasMath_t math;
  ASSERT_EQ(cublasGetMathMode(handle, &math), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(math, CUBLAS_DEFAULT_MATH);
  for (const auto mode : {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_DEFAULT_MATH}) {
    ASSERT_EQ(cublasSetMathMode(handle, mode), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasGetMathMode(handle, &math), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(math, mode);
  }
  cublasAtomicsMode_t atomics;
  ASSERT_EQ(cublasSetAtomicsMode(handle, CUBLAS_ATOMICS_ALLOWED), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasGetAtomicsMode(handle, &atomics), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(atomics, CUBLAS_ATOMICS_ALLOWED);
  int sms = -1;
  ASSERT_EQ(cublasSetSmCountTarget(handle, 4), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasGetSmCountTarget(handle, &sms), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(sms, 4);
  EXPECT_EQ(cublasSetSmCountTarget(handle, -1), CUBLAS_STATUS_INVALID_VALUE);
  cudaStream_t stream = nullptr, got = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasGetStream(handle, &got), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(got, stream);
  ASSERT_EQ(cublasSetStream(handle, nullptr), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(Library, SaysWhatItIs) {
  int value = 0;
  ASSERT_EQ(cublasGetProperty(MAJOR_VERSION, &value), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(value, 13);
  EXPECT_EQ(cublasGetProperty(MAJOR_VERSION, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasGetProperty(libraryPropertyType(9), &value), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasGetCudartVersion() / 1000, 13u);
  EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_ARCH_MISMATCH), "CUBLAS_STATUS_ARCH_MISMATCH");
  EXPECT_STREQ(cublasGetStatusName(cublasStatus_t(2)), "unrecognized status");
  EXPECT_STRNE(cublasGetStatusString(CUBLAS_STATUS_SUCCESS),
               cublasGetStatusString(CUBLAS_STATUS_MAPPING_ERROR));
}

// --- Copies; the codes were asked of NVIDIA's library ---

TEST(Copies, VectorsWithIncrements) {
  const auto x = numbers<double>(100, 1);
  const Device<double> device(std::vector<double>(100, -1));
  ASSERT_EQ(cublasSetVector(20, sizeof(double), x.data(), 5, device.data(), 3),
            CUBLAS_STATUS_SUCCESS);
  const auto got = device.values();
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(got[i], i < 60 && i % 3 == 0 ? x[i / 3 * 5] : -1) << i;
  std::vector<double> back(100, -2);
  ASSERT_EQ(cublasGetVector(20, sizeof(double), device.data(), 3, back.data(), 1),
            CUBLAS_STATUS_SUCCESS);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(back[i], i < 20 ? x[i * 5] : -2) << i;
}

TEST(Copies, MatricesWithLeadingDimensions) {
  constexpr size_t kRows = 6, kCols = 5, kHere = 9, kThere = 7;
  const auto a = numbers<float>(kHere * kCols, 1);
  const Device<float> device(std::vector<float>(kThere * kCols, -1));
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cublasSetMatrixAsync(kRows, kCols, sizeof(float), a.data(), kHere, device.data(),
                                 kThere, stream),
            CUBLAS_STATUS_SUCCESS);
  std::vector<float> back(kRows * kCols, -2);
  ASSERT_EQ(cublasGetMatrixAsync_64(kRows, kCols, sizeof(float), device.data(), kThere, back.data(),
                                    kRows, stream),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const auto got = device.values();
  for (size_t col = 0; col < kCols; ++col)
    for (size_t row = 0; row < kThere; ++row) {
      EXPECT_EQ(got[row + col * kThere], row < kRows ? a[row + col * kHere] : -1);
      if (row < kRows) {
        EXPECT_EQ(back[row + col * kRows], a[row + col * kHere]);
      }
    }
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(Copies, WrongArguments) {
  char host[64] = {};
  const Device<float> device(std::vector<float>(16));
  const auto vector = [&](int n, int size, int incx, int incy) {
    return cublasSetVector(n, size, host, incx, device.data(), incy);
  };
  EXPECT_EQ(vector(0, 4, 1, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(vector(0, 0, 1, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(vector(0, 4, -1, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(vector(1, 4, 1, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(vector(-5, 4, 1, 1), CUBLAS_STATUS_MAPPING_ERROR);
  const auto matrix = [&](int rows, int cols, int size, int lda, int ldb) {
    return cublasSetMatrix(rows, cols, size, host, lda, device.data(), ldb);
  };
  EXPECT_EQ(matrix(0, 3, 4, 1, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(matrix(-1, 1, 4, 1, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(matrix(0, 0, 4, 0, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(matrix(2, 2, 4, 1, 2), CUBLAS_STATUS_MAPPING_ERROR);
  EXPECT_EQ(matrix(2, 2, 4, 2, 1), CUBLAS_STATUS_MAPPING_ERROR);
}

// --- Wrong arguments of what computes ---

TEST(Arguments, OfGemm) {
  Handle handle;
  const Device<float> a(numbers<float>(64, 1)), b(numbers<float>(64, 2)), c(numbers<float>(64, 3));
  const float one = 1;
  const auto gemm = [&](int op, int m, int n, int k, const float* alpha, int lda, int ldb,
                        int ldc) {
    return cublasSgemm(handle, cublasOperation_t(op), CUBLAS_OP_N, m, n, k, alpha, a.data(), lda,
                       b.data(), ldb, &one, c.data(), ldc);
  };
  EXPECT_EQ(gemm(0, 4, 4, 4, &one, 4, 4, 4), CUBLAS_STATUS_SUCCESS);
  const auto before = c.values();
  EXPECT_EQ(gemm(7, 4, 4, 4, &one, 4, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, -1, 4, 4, &one, 4, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, 4, -1, 4, &one, 4, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, 4, 4, -1, &one, 4, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, 4, 4, 4, &one, 3, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, 4, 4, 5, &one, 4, 4, 4), CUBLAS_STATUS_INVALID_VALUE);  // ldb < k
  EXPECT_EQ(gemm(1, 4, 4, 5, &one, 4, 5, 4), CUBLAS_STATUS_INVALID_VALUE);  // lda < k
  EXPECT_EQ(gemm(0, 4, 4, 4, &one, 4, 4, 3), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, 4, 4, 4, nullptr, 4, 4, 4), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, 0, 4, 4, &one, 1, 4, 1), CUBLAS_STATUS_SUCCESS);  // nothing to do
  EXPECT_EQ(gemm(0, 0, 4, 4, &one, 0, 4, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(c.values(), before);
}

TEST(Arguments, OfVectorsAndMatrices) {
  Handle handle;
  const Device<float> a(numbers<float>(64, 1)), x(numbers<float>(64, 2));
  const float one = 1;
  const auto gemv = [&](int m, int n, int lda, int incx, int incy) {
    return cublasSgemv(handle, CUBLAS_OP_N, m, n, &one, a.data(), lda, x.data(), incx, &one,
                       x.data() + 32, incy);
  };
  EXPECT_EQ(gemv(4, 4, 4, 1, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gemv(-1, 4, 4, 1, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemv(4, 4, 3, 1, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemv(4, 4, 4, 0, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemv(4, 4, 4, 1, 0), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSger(handle, 4, 4, &one, x.data(), 0, x.data(), 1, a.data(), 4),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSger(handle, 4, 4, &one, x.data(), 1, x.data(), 1, a.data(), 3),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 4, 4, &one, a.data(), 4, &one, x.data(),
                        4, a.data(), 4),
            CUBLAS_STATUS_INVALID_VALUE);  // in place and transposed
}

TEST(Arguments, FormatsThatThereAreNot) {
  Handle handle;
  const Device<float> a(numbers<float>(64, 1));
  const float one = 1;
  const auto gemm = [&](cudaDataType in, cudaDataType out, cublasComputeType_t compute) {
    return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a.data(), in, 4, a.data(),
                        in, 4, &one, a.data() + 32, out, 4, compute, CUBLAS_GEMM_DEFAULT);
  };
  EXPECT_EQ(gemm(CUDA_R_32F, CUDA_R_16F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(gemm(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_32F), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(gemm(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_16F), CUBLAS_STATUS_NOT_SUPPORTED);
  if (!is_standin()) return;
  EXPECT_EQ(gemm(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I), CUBLAS_STATUS_NOT_SUPPORTED);
}

// What a GPU answers with a fault in the middle of a kernel, or with a crash.
TEST(Arguments, MemoryOfTheWrongKind) {
  if (!is_standin()) GTEST_SKIP() << "NVIDIA's library does not look at pointers";
  Handle handle;
  const Device<float> device(numbers<float>(64, 1));
  std::vector<float> host(64);
  const float one = 1;
  EXPECT_EQ(cublasSaxpy(handle, 4, &one, host.data(), 1, device.data(), 1),
            CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(cublasSaxpy(handle, 4, &one, nullptr, 1, device.data(), 1),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSaxpy(handle, 4, device.data(), device.data(), 1, device.data() + 32, 1),
            CUBLAS_STATUS_INVALID_VALUE);
  ASSERT_EQ(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSaxpy(handle, 4, &one, device.data(), 1, device.data() + 32, 1),
            CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSdot(handle, 4, device.data(), 1, device.data(), 1, host.data()),
            CUBLAS_STATUS_INVALID_VALUE);
  cublasHandle_t gone = nullptr;
  ASSERT_EQ(cublasCreate(&gone), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasDestroy(gone), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasDestroy(gone), CUBLAS_STATUS_NOT_INITIALIZED);
}

// Every other name of the library is there, and says no.
TEST(Refused, ByName) {
  if (!is_standin()) GTEST_SKIP() << "NVIDIA's library has them";
  for (const char* name : {"cublasCgemm_v2", "cublasStrsm_v2_64", "cublasXtCreate", "cublasInit",
                           "cublasSgemmGroupedBatched", "cublasDsyrk_v2"}) {
    const auto function = reinterpret_cast<cublasStatus_t (*)()>(dlsym(RTLD_DEFAULT, name));
    ASSERT_TRUE(function) << name;
    EXPECT_EQ(function(), CUBLAS_STATUS_NOT_SUPPORTED) << name;
  }
}

// --- Streams ---

// The work of a handle goes to its stream: behind a wait that ends later, it has not happened.
TEST(Streams, WorkWaitsItsTurn) {
  Handle handle;
  cudaStream_t stream = nullptr, other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  struct Gate {
    std::atomic<bool> open = false;
  } gate;
  const Device<float> x(std::vector<float>(8, 2)), y(std::vector<float>(8, 1));
  ASSERT_EQ(cudaLaunchHostFunc(
                stream,
                [](void* data) {
                  while (!static_cast<Gate*>(data)->open) std::this_thread::yield();
                },
                &gate),
            cudaSuccess);
  const float three = 3;
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasSaxpy(handle, 8, &three, x.data(), 1, y.data(), 1), CUBLAS_STATUS_SUCCESS);
  float seen = 0;
  ASSERT_EQ(cudaMemcpyAsync(&seen, y.data(), sizeof seen, cudaMemcpyDeviceToHost, other),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  gate.open = true;
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(y.values()[7], 7);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

// A graph of everything that takes scratch memory, launched twice: nothing waits, nothing is lost.
TEST(Streams, CanBeCaptured) {
  Handle handle(CUBLAS_POINTER_MODE_DEVICE);
  constexpr int kSize = 20;
  const auto a = numbers<float>(kSize * kSize, 1), x = numbers<float>(2 * kSize, 2);
  const Device<float> da(a), dx(x), product(a), y(x), norm(x);
  const float *one = handle.scalar(1.0f), *zero = handle.scalar(0.0f);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, kSize, kSize, kSize, one, da.data(),
                        kSize, da.data(), kSize, zero, product.data(), kSize),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSgemv(handle, CUBLAS_OP_N, kSize, kSize, one, product.data(), kSize, dx.data(), 2,
                        zero, y.data(), 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSnrm2(handle, kSize, y.data(), 1, norm.data()), CUBLAS_STATUS_SUCCESS);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  double squares = 0;
  for (int row = 0; row < kSize; ++row) {
    double sum = 0;
    for (int col = 0; col < kSize; ++col)
      for (int k = 0; k < kSize; ++k)
        sum += double(a[size_t(row + k * kSize)]) * a[size_t(col + k * kSize)] * x[size_t(2 * col)];
    squares += sum * sum;
  }
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(cudaMemset(norm.data(), 0xff, sizeof(float)), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    expect_near(norm.values()[0], std::sqrt(squares), std::sqrt(squares) * 1e-4, "norm");
  }
  ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// A workspace of the program's own is used as far as it reaches, and forgotten with the stream.
TEST(Streams, Workspaces) {
  Handle handle(CUBLAS_POINTER_MODE_DEVICE);
  const Device<char> memory(std::vector<char>(1 << 20));
  EXPECT_EQ(cublasSetWorkspace(handle, memory.data() + 1, 1 << 10), CUBLAS_STATUS_INVALID_VALUE);
  for (const size_t bytes : {size_t(0), size_t(256), size_t(1) << 20}) {
    ASSERT_EQ(cublasSetWorkspace(handle, memory.data(), bytes), CUBLAS_STATUS_SUCCESS);
    const Device<float> a(std::vector<float>(16, 1)), c(std::vector<float>(16, NAN));
    ASSERT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, handle.scalar(2.0f), a.data(),
                          4, a.data(), 4, handle.scalar(0.0f), c.data(), 4),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(c.values(), std::vector<float>(16, 8)) << bytes;
  }
  ASSERT_EQ(cublasSetStream(handle, nullptr), CUBLAS_STATUS_SUCCESS);
}

// --- The log ---

std::string logged;

TEST(Log, TellsOfEveryCall) {
  cublasLogCallback before = nullptr;
  ASSERT_EQ(cublasSetLoggerCallback([](const char* text) { logged += text; }),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasGetLoggerCallback(&before), CUBLAS_STATUS_SUCCESS);
  EXPECT_TRUE(before);
  EXPECT_EQ(logged, "");  // it is off
  ASSERT_EQ(cublasLoggerConfigure(1, 0, 0, nullptr), CUBLAS_STATUS_SUCCESS);
  Handle handle;
  EXPECT_NE(logged.find("cublasCreate"), logged.npos) << logged;
  ASSERT_EQ(cublasLoggerConfigure(0, 0, 0, nullptr), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasSetLoggerCallback(nullptr), CUBLAS_STATUS_SUCCESS);
}

}  // namespace
}  // namespace ridge::standin
