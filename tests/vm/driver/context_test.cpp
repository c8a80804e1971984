// Starting, the device, and contexts.
#include <thread>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

class Contexts : public DriverTest {};

TEST_F(Contexts, EveryErrorHasANameAndAText) {
  const char* text = nullptr;
  EXPECT_OK(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_INVALID_CONTEXT");
  EXPECT_OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  EXPECT_EQ(cuGetErrorName(CUresult(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST_F(Contexts, TheDeviceSaysWhatItIs) {
  int count = 0, version = 0, major = 0, warp = 0;
  char name[64] = {};
  size_t bytes = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  EXPECT_GE(count, 1);
  EXPECT_OK(cuDriverGetVersion(&version));
  EXPECT_GE(version, 13000);
  EXPECT_OK(cuDeviceGetName(name, sizeof name, device));
  EXPECT_EQ(std::string(name).rfind("NVIDIA", 0), 0u) << name;
  EXPECT_OK(cuDeviceTotalMem(&bytes, device));
  EXPECT_GT(bytes, size_t(1) << 30);
  EXPECT_OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  EXPECT_GE(major, 7);
  EXPECT_OK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  EXPECT_EQ(warp, 32);
  EXPECT_EQ(cuDeviceGetAttribute(&warp, CUdevice_attribute(9999), device),
            CUDA_ERROR_INVALID_VALUE);
  CUdevice none = 0;
  EXPECT_EQ(cuDeviceGet(&none, 99), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Contexts, ACallWithoutAContextIsRefused) {
  std::thread([] {
    CUcontext current = reinterpret_cast<CUcontext>(1);
    CUdeviceptr address = 0;
    EXPECT_OK(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(cuMemAlloc(&address, 16), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPopCurrent(&current), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

TEST_F(Contexts, TheStackIsAStack) {
  CUcontext first = nullptr, popped = nullptr, current = nullptr;
  ASSERT_OK(cuCtxCreate(&first, nullptr, CU_CTX_SCHED_SPIN, device));
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, first);
  unsigned flags = 0, version = 0;
  EXPECT_OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_SPIN));
  EXPECT_OK(cuCtxGetApiVersion(first, &version));
  EXPECT_EQ(version, 3020u);
  EXPECT_OK(cuCtxPushCurrent(context));
  EXPECT_OK(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, context);
  EXPECT_OK(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, first);
  EXPECT_OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
  EXPECT_OK(cuCtxDestroy(first));
  EXPECT_NE(cuCtxPushCurrent(first), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxCreate(&first, nullptr, 0x1000, device), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Contexts, WhatWasMadeInAContextGoesWithIt) {
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device));
  CUdeviceptr address = 0;
  CUstream stream = nullptr;
  size_t before = 0, after = 0, total = 0;
  EXPECT_OK(cuMemGetInfo(&before, &total));
  EXPECT_OK(cuMemAlloc(&address, 1 << 20));
  EXPECT_OK(cuStreamCreate(&stream, 0));
  CUcontext owner = nullptr;
  EXPECT_OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
  EXPECT_EQ(owner, other);
  EXPECT_OK(cuStreamGetCtx(stream, &owner));
  EXPECT_EQ(owner, other);
  EXPECT_OK(cuCtxDestroy(other));
  EXPECT_OK(cuMemGetInfo(&after, &total));
  EXPECT_GE(after, before);
  EXPECT_NE(cuMemsetD8(address, 0, 1), CUDA_SUCCESS);
}

TEST_F(Contexts, ThePrimaryContextIsCounted) {
  unsigned flags = 0;
  int active = 0;
  CUcontext same = nullptr;
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQ(active, 1);
  EXPECT_OK(cuDevicePrimaryCtxRetain(&same, device));
  EXPECT_EQ(same, context);
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQ(active, 1);
}

TEST_F(Contexts, LimitsAreKept) {
  size_t value = 0;
  EXPECT_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  EXPECT_OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 4096u);
  EXPECT_NE(cuCtxGetLimit(&value, CUlimit(77)), CUDA_SUCCESS);
}

TEST_F(Contexts, AFaultEndsWithItsContext) {
  const Module module;
  EXPECT_OK(
      cuLaunchKernel(module.function("wild"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc(&address, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_OK(cuDevicePrimaryCtxReset(device));
  EXPECT_OK(cuMemAlloc(&address, 16));
}

}  // namespace
}  // namespace ridge::vm::driver
