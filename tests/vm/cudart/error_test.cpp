// Error codes and texts, launch checks, and what a fault does to the device.
#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <utility>

#include "runtime_test.h"

namespace ridge::vm::cudart {
namespace {

using ErrorTest = RuntimeTest;

// Every name and text, against the toolkit's own library; it needs no GPU for these two functions.
TEST_F(ErrorTest, NamesAndTextsAreTheToolkits) {
  void* real = dlopen(RIDGE_TEST_CUDA_ROOT "/lib64/libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
  if (!real) GTEST_SKIP() << dlerror();
  using Words = const char* (*)(cudaError_t);
  const auto name = reinterpret_cast<Words>(dlsym(real, "cudaGetErrorName"));
  const auto text = reinterpret_cast<Words>(dlsym(real, "cudaGetErrorString"));
  for (int code = -1; code < 11000; ++code) {
    EXPECT_STREQ(cudaGetErrorName(cudaError_t(code)), name(cudaError_t(code))) << code;
    EXPECT_STREQ(cudaGetErrorString(cudaError_t(code)), text(cudaError_t(code))) << code;
  }
}

TEST_F(ErrorTest, TheLastErrorStaysUntilTaken) {
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 4), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(ErrorTest, LaunchConfigurations) {
  const TestKernel plain("plain"), bounded("bounded max_threads=128"), heavy("heavy registers=168"),
      shared("shared static_shared=40960");
  const cudaError_t ok = cudaSuccess, bad = cudaErrorInvalidValue;
  EXPECT_EQ(plain.launch(nullptr, 0, 1), bad);
  EXPECT_EQ(plain.launch(nullptr, 1, 0), bad);
  EXPECT_EQ(plain.launch(nullptr, 1, 1024), ok);
  EXPECT_EQ(plain.launch(nullptr, 1, 1025), bad);
  EXPECT_EQ(plain.launch(nullptr, 1, dim3(1, 1, 64)), ok);
  EXPECT_EQ(plain.launch(nullptr, 1, dim3(1, 1, 65)), bad);
  EXPECT_EQ(plain.launch(nullptr, 1, dim3(32, 32, 2)), bad);
  EXPECT_EQ(plain.launch(nullptr, dim3(1, 65536), 1), bad);
  EXPECT_EQ(plain.launch(nullptr, 2147483647u, 1), ok);
  EXPECT_EQ(plain.launch(nullptr, 2147483648u, 1), bad);
  EXPECT_EQ(bounded.launch(nullptr, 1, 129), bad);
  EXPECT_EQ(heavy.launch(nullptr, 1, 1024), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(heavy.launch(nullptr, 1, 384), ok);
  EXPECT_EQ(plain.launch(nullptr, 1, 1, 48 * 1024), ok);
  EXPECT_EQ(plain.launch(nullptr, 1, 1, 48 * 1024 + 1), bad);
  EXPECT_EQ(shared.launch(nullptr, 1, 1, 8 * 1024), ok);
  EXPECT_EQ(shared.launch(nullptr, 1, 1, 9 * 1024), bad);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // none of these is sticky
}

TEST_F(ErrorTest, SharedMemoryByOptIn) {
  const TestKernel plain("plain"), shared("shared static_shared=40960");
  const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_EQ(cudaFuncSetAttribute(plain.handle(), attribute, 100 * 1024), cudaSuccess);
  EXPECT_EQ(plain.launch(nullptr, 1, 32, 100 * 1024), cudaSuccess);
  EXPECT_EQ(plain.launch(nullptr, 1, 32, 101 * 1024), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(plain.handle(), attribute, 227 * 1024), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(plain.handle(), attribute, 227 * 1024 + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(shared.handle(), attribute, 187 * 1024), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(shared.handle(), attribute, 188 * 1024), cudaErrorInvalidValue);
  cudaFuncAttributes a;
  EXPECT_EQ(cudaFuncGetAttributes(&a, shared.handle()), cudaSuccess);
  EXPECT_EQ(a.sharedSizeBytes, 40960u);
  EXPECT_EQ(a.maxDynamicSharedSizeBytes, 187 * 1024);
}

TEST_F(ErrorTest, CooperativeLaunchesMustBeResident) {
  const TestKernel k("k registers=8");
  const auto launch = [&](unsigned grid, size_t shared) {
    return cudaLaunchCooperativeKernel(k.handle(), grid, 128, nullptr, shared, nullptr);
  };
  EXPECT_EQ(launch(132 * 16, 0), cudaSuccess);  // an H200's
  EXPECT_EQ(launch(132 * 16 + 1, 0), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(launch(1, 49 * 1024), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(launch(0, 0), cudaErrorInvalidValue);
}

TEST_F(ErrorTest, LaunchAttributes) {
  bool cooperative = false, explicit_cluster = false;
  Dim3 cluster;
  const TestKernel k("k", [&](const Launch& launch) {
    cooperative = launch.cooperative;
    explicit_cluster = launch.explicit_cluster;
    cluster = launch.cluster;
    return Fault{};
  });
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.attrs = attributes;
  config.numAttrs = 2;
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributePriority;
  EXPECT_EQ(cudaLaunchKernelExC(&config, k.handle(), nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(cooperative);
  EXPECT_FALSE(explicit_cluster);
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {2, 1, 1};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaLaunchKernelExC(&config, k.handle(), nullptr), cudaErrorInvalidClusterSize);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("no multiple of clusters"),
            std::string::npos);
  config.gridDim = dim3(4);
  EXPECT_EQ(cudaLaunchKernelExC(&config, k.handle(), nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(explicit_cluster);
  EXPECT_EQ(cluster.count(), 2u);
  attributes[0].id = cudaLaunchAttributeID(55);
  EXPECT_EQ(cudaLaunchKernelExC(&config, k.handle(), nullptr), cudaErrorInvalidValue);
}

TEST_F(ErrorTest, AFaultIsStickyUntilReset) {
  const TestKernel good("good");
  const TestKernel bad("bad", [](const Launch&) {
    Fault fault{FaultKind::illegal_address, {}};
    fault.finding.kind = "fault";
    fault.finding.message = "the report of the fault";
    return fault;
  });
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(bad.launch(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(bad.launch(), cudaErrorIllegalAddress);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "ridge: error: the report of the fault [fault]\n");  // once
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // the thread's memory, not the device's
  void* p = nullptr;
  int count = 0;
  cudaEvent_t event;
  EXPECT_EQ(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaFree(nullptr), cudaErrorIllegalAddress);
  EXPECT_EQ(good.launch(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaEventCreate(&event), cudaErrorIllegalAddress);
  // Questions about the device still have answers.
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&p, 4), cudaSuccess);
  const TestKernel again("good");
  EXPECT_EQ(again.launch(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(ErrorTest, EveryFaultHasItsCode) {
  const std::pair<FaultKind, cudaError_t> codes[] = {
      {FaultKind::illegal_address, cudaErrorIllegalAddress},
      {FaultKind::misaligned_address, cudaErrorMisalignedAddress},
      {FaultKind::invalid_address_space, cudaErrorInvalidAddressSpace},
      {FaultKind::invalid_pc, cudaErrorInvalidPc},
      {FaultKind::illegal_instruction, cudaErrorIllegalInstruction},
      {FaultKind::hardware_stack, cudaErrorHardwareStackError},
      {FaultKind::assert_failed, cudaErrorAssert},
      {FaultKind::trap, cudaErrorLaunchFailure},
      {FaultKind::image, cudaErrorIllegalAddress},
      {FaultKind::timeout, cudaErrorLaunchTimeout},
      {FaultKind::out_of_memory, cudaErrorMemoryAllocation},
      {FaultKind::unsupported, cudaErrorNotSupported}};
  for (const auto& [kind, code] : codes) {
    const TestKernel k("k", [kind = kind](const Launch&) { return Fault{kind, {}}; });
    k.launch();
    EXPECT_EQ(cudaDeviceSynchronize(), code);
    cudaDeviceReset();
  }
}

TEST_F(ErrorTest, WorkBehindAFaultDoesNotRun) {
  bool ran = false;
  Gate gate;
  const TestKernel bad("bad", [&](const Launch&) {
    gate.wait();
    return Fault{FaultKind::trap, {}};
  });
  const TestKernel after("after", [&](const Launch&) {
    ran = true;
    return Fault{};
  });
  cudaError_t status = cudaSuccess;
  bad.launch();
  after.launch();
  cudaStreamAddCallback(
      nullptr, [](cudaStream_t, cudaError_t s, void* out) { *static_cast<cudaError_t*>(out) = s; },
      &status, 0);
  gate.open();
  // At once when the fault has happened already.
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  cudaDeviceReset();  // waits
  EXPECT_FALSE(ran);
  EXPECT_EQ(status, cudaErrorLaunchFailure);  // callbacks run, and are told
}

TEST_F(ErrorTest, Occupancy) {
  const TestKernel k("k registers=64"), heavy("heavy registers=168"),
      shared("shared registers=24 static_shared=40960");
  const auto blocks = [](const TestKernel& kernel, int threads, size_t bytes) {
    int n = -1;
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel.handle(), threads, bytes),
              cudaSuccess);
    return n;
  };
  EXPECT_EQ(blocks(k, 128, 0), 8);  // as an H200 answers
  EXPECT_EQ(blocks(k, 1024, 0), 1);
  EXPECT_EQ(blocks(heavy, 32, 0), 12);
  EXPECT_EQ(blocks(heavy, 512, 0), 0);
  EXPECT_EQ(blocks(shared, 32, 0), 5);
  EXPECT_EQ(blocks(k, 32, 10000), 20);
  EXPECT_EQ(blocks(k, 32, 100000), 0);  // more than may be asked for
  EXPECT_EQ(blocks(k, 2000, 0), 0);
  int n = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k.handle(), 0, 0),
            cudaErrorInvalidValue);
  size_t bytes = 0;
  EXPECT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, k.handle(), 7, 64), cudaSuccess);
  EXPECT_EQ(bytes, 33280u);
  EXPECT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, k.handle(), 32, 64),
            cudaErrorInvalidValue);
}

TEST_F(ErrorTest, DeviceQuestions) {
  int value = -1;
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0), cudaSuccess);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDeviceAttr(9999), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
  cudaDeviceProp p;
  EXPECT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_STREQ(p.name, "NVIDIA H200");
  EXPECT_EQ(p.multiProcessorCount, 132);
  EXPECT_EQ(p.maxThreadsPerMultiProcessor, 2048);
  EXPECT_EQ(p.sharedMemPerBlockOptin, 232448u);
  int version = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 13000);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&value, 0, 0), cudaSuccess);
  EXPECT_EQ(value, 0);
}

TEST_F(ErrorTest, RefusedFunctionsSayTheirName) {
  cudaExternalMemory_t memory = nullptr;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaImportExternalMemory(&memory, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaImportExternalMemory(&memory, nullptr), cudaErrorNotSupported);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(
      said.find("ridge: error: cudaImportExternalMemory is not supported by the software GPU"), 0u);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

}  // namespace
}  // namespace ridge::vm::cudart
