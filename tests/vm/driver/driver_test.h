// What the tests of the driver share. They link libcuda.so.1 itself, and know nothing of its
// inside: on a machine with a GPU they run on that, with LD_LIBRARY_PATH naming the folder of its
// driver.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ridge::vm::driver {

#define EXPECT_OK(call) EXPECT_EQ(call, CUDA_SUCCESS)
#define ASSERT_OK(call) ASSERT_EQ(call, CUDA_SUCCESS)

// Each test starts with the primary context current, and leaves nothing behind.
class DriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(cuInit(0));
    ASSERT_OK(cuDeviceGet(&device, 0));
    ASSERT_OK(cuDevicePrimaryCtxRetain(&context, device));
    ASSERT_OK(cuCtxSetCurrent(context));
  }
  void TearDown() override {
    cuCtxSetCurrent(context);
    cuDevicePrimaryCtxRelease(device);
    cuDevicePrimaryCtxReset(device);
    cuCtxSetCurrent(nullptr);
  }
  CUdevice device = 0;
  CUcontext context = nullptr;
};

// out[i] = a * in[i] + b for i < n; `scale` and `calls` are variables of the module.
inline const char* const kScalePtx = R"(
.version 8.0
.target sm_75
.address_size 64
.global .align 4 .b32 calls = 0;
.const .align 4 .f32 offset = 0f3F800000;
.visible .entry scale(.param .u64 in, .param .u64 out, .param .f32 a, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  setp.ge.u32 %p, %r4, %r5;
  @%p ret;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.f32 %f1, [a];
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  ld.const.f32 %f3, [offset];
  fma.rn.f32 %f2, %f1, %f2, %f3;
  st.global.f32 [%rd5], %f2;
  red.global.add.u32 [calls], 1;
  ret;
}
.visible .entry wild()
{
  .reg .b64 %rd<2>;
  mov.u64 %rd1, 64;
  st.global.u32 [%rd1], 1;
  ret;
}
)";

class Module {
 public:
  explicit Module(const char* code = kScalePtx) { EXPECT_OK(cuModuleLoadData(&handle, code)); }
  CUfunction function(const char* name) const {
    CUfunction found = nullptr;
    EXPECT_OK(cuModuleGetFunction(&found, handle, name));
    return found;
  }
  CUmodule handle = nullptr;
};

// Floats on the device.
class Floats {
 public:
  explicit Floats(const std::vector<float>& values) : count(values.size()) {
    EXPECT_OK(cuMemAlloc(&address, bytes()));
    EXPECT_OK(cuMemcpyHtoD(address, values.data(), bytes()));
  }
  std::vector<float> values() const {
    std::vector<float> host(count);
    EXPECT_OK(cuMemcpyDtoH(host.data(), address, bytes()));
    return host;
  }
  size_t bytes() const { return count * sizeof(float); }
  size_t count;
  CUdeviceptr address = 0;
};

inline CUresult launch_scale(CUfunction scale, const Floats& in, const Floats& out, float a,
                             CUstream stream = nullptr) {
  auto n = unsigned(in.count);
  CUdeviceptr from = in.address, to = out.address;
  void* arguments[] = {&from, &to, &a, &n};
  return cuLaunchKernel(scale, (n + 63) / 64, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr);
}

}  // namespace ridge::vm::driver
