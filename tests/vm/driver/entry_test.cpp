// Functions by name and version; a null stream of each thread; and what is not supported.
#include <cstdlib>
#include <cstring>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

class Entries : public DriverTest {
 protected:
  void* find(const char* name, int version, cuuint64_t flags = CU_GET_PROC_ADDRESS_DEFAULT) {
    void* function = nullptr;
    EXPECT_OK(cuGetProcAddress(name, &function, version, flags, &status));
    return function;
  }
  CUdriverProcAddressQueryResult status{};
};

extern "C" CUresult cuCtxCreate_v2(CUcontext*, unsigned, CUdevice);
extern "C" CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr, const void*, size_t);

TEST_F(Entries, TheNewestThatIsOldEnough) {
  EXPECT_EQ(find("cuMemAlloc", 13000), reinterpret_cast<void*>(&cuMemAlloc));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_EQ(find("cuCtxCreate", 13000), reinterpret_cast<void*>(&cuCtxCreate));
  EXPECT_EQ(find("cuCtxCreate", 11000), reinterpret_cast<void*>(&cuCtxCreate_v2));
  EXPECT_NE(find("cuMemAlloc", 2000), find("cuMemAlloc", 3020));
  EXPECT_EQ(find("cuLaunchKernelEx", 11000), nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(find("cuNothing", 13000), nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  void* function = nullptr;
  EXPECT_EQ(cuGetProcAddress("cuInit", &function, 99000, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Entries, PerThreadOnesWhereThereAreSome) {
  const auto flag = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  EXPECT_EQ(find("cuMemcpyHtoD", 13000, flag), reinterpret_cast<void*>(&cuMemcpyHtoD_v2_ptds));
  EXPECT_EQ(find("cuMemAlloc", 13000, flag), reinterpret_cast<void*>(&cuMemAlloc));
  CUdeviceptr address = 0;
  int value = 5, back = 0;
  EXPECT_OK(cuMemAlloc(&address, 4));
  EXPECT_OK(cuMemcpyHtoD_v2_ptds(address, &value, 4));
  EXPECT_OK(cuMemcpyDtoH(&back, address, 4));
  EXPECT_EQ(back, 5);
}

TEST_F(Entries, WhatIsMissingIsRefused) {
  if (std::getenv("RIDGE_TEST_REAL_GPU")) GTEST_SKIP() << "nothing is";
  CUtexref reference = nullptr;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  EXPECT_EQ(cuTexRefCreate(&reference), CUDA_ERROR_NOT_SUPPORTED);
#pragma GCC diagnostic pop
}

}  // namespace
}  // namespace ridge::vm::driver
