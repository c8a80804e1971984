// The runtime and the driver in one process: one device, one memory, one set of streams.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <thread>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

class Both : public DriverTest {};

TEST_F(Both, MemoryAndStreamsAreShared) {
  const Module module;
  void* pointer = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 16), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const Floats in({1, 2, 3, 4});
  CUdeviceptr from = in.address;
  float a = 2;
  unsigned n = 4;
  void* arguments[] = {&from, &pointer, &a, &n};
  EXPECT_OK(
      cuLaunchKernel(module.function("scale"), 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr));
  float out[4] = {};
  EXPECT_EQ(cudaMemcpyAsync(out, pointer, 16, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out[3], 9);
  EXPECT_OK(cuStreamQuery(stream));
  EXPECT_OK(cuMemFree(reinterpret_cast<CUdeviceptr>(pointer)));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(Both, HintsAreOnePerProcess) {
  CUfunc_cache seen = CU_FUNC_CACHE_PREFER_NONE;
  cudaFuncCache back = cudaFuncCachePreferNone;
  EXPECT_EQ(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1), cudaSuccess);
  EXPECT_OK(cuCtxGetCacheConfig(&seen));
  EXPECT_EQ(seen, CU_FUNC_CACHE_PREFER_L1);
  EXPECT_OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_SHARED));
  EXPECT_EQ(cudaDeviceGetCacheConfig(&back), cudaSuccess);
  EXPECT_EQ(back, cudaFuncCachePreferShared);
  EXPECT_OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE));
}

TEST_F(Both, TheRuntimeLaunchesADriversKernel) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, kScalePtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_OK(cuLibraryGetKernel(&kernel, library, "scale"));
  const Floats in({1, 2}), out({0, 0});
  CUdeviceptr from = in.address, to = out.address;
  float a = 7;
  unsigned n = 2;
  void* arguments[] = {&from, &to, &a, &n};
  EXPECT_EQ(cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.values()[1], 15);
}

TEST_F(Both, ADriversErrorIsNotTheRuntimes) {
  CUdeviceptr address = 0;
  cudaGetLastError();
  EXPECT_EQ(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(reinterpret_cast<CUstream>(64)) == CUDA_SUCCESS, false);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// In a process of its own, which never calls cuInit.
TEST(BothInANewProcess, TheRuntimeInitialisesTheDriver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ask = [](cudaError_t (*call)()) {
    CUdevice device = 0;
    if (cuDeviceGet(&device, 0) != CUDA_ERROR_NOT_INITIALIZED) std::exit(1);
    if (call() != cudaSuccess) std::exit(2);
    std::exit(cuDeviceGet(&device, 0) == CUDA_SUCCESS ? 0 : 3);
  };
  EXPECT_EXIT(ask([] { return cudaFree(nullptr); }), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ask([] { return cudaSetDevice(0); }), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ask([] { return cudaDeviceSynchronize(); }), ::testing::ExitedWithCode(0), "");
}

TEST_F(Both, TheRuntimeMakesThePrimaryContextCurrent) {
  std::thread([&] {
    CUcontext current = nullptr;
    EXPECT_OK(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
    EXPECT_OK(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, context);
  }).join();
}

TEST_F(Both, TheRuntimeFindsTheDriversFunctions) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                             cudaEnableDefault, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuTensorMapEncodeTiled));
  EXPECT_EQ(
      cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &status),
      cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
}

}  // namespace
}  // namespace ridge::vm::driver
