// Loading code, finding kernels and variables, launching, linking.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

class Modules : public DriverTest {};

std::vector<float> ramp(size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST_F(Modules, AKernelRuns) {
  const Module module;
  const Floats in(ramp(100)), out(std::vector<float>(100));
  EXPECT_OK(launch_scale(module.function("scale"), in, out, 3));
  const std::vector<float> values = out.values();
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 3 * float(i) + 1) << i;
}

TEST_F(Modules, ArgumentsMayComeInOneBuffer) {
  const Module module;
  const Floats in(ramp(10)), out(std::vector<float>(10));
  struct {
    CUdeviceptr in, out;
    float a;
    unsigned n;
  } packed{in.address, out.address, 2, 10};
  size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  const CUfunction scale = module.function("scale");
  EXPECT_OK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(out.values()[9], 19);
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  packed.a = 4;
  EXPECT_OK(cuLaunchKernelEx(&config, scale, nullptr, extra));
  EXPECT_EQ(out.values()[9], 37);
  void* none[] = {nullptr};
  EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, none, extra),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, LaunchesInClusters) {
  const Module module;
  const Floats in(ramp(100)), out(std::vector<float>(100));
  CUdeviceptr from = in.address, to = out.address;
  float a = 2;
  unsigned n = 100;
  void* params[] = {&from, &to, &a, &n};
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 4;
  config.blockDimX = 32;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const CUfunction scale = module.function("scale");
  EXPECT_OK(cuLaunchKernelEx(&config, scale, params, nullptr));
  EXPECT_EQ(out.values()[99], 199);
  int clusters = 0, size = 0;
  EXPECT_OK(cuOccupancyMaxActiveClusters(&clusters, scale, &config));
  EXPECT_GT(clusters, 0);
  EXPECT_OK(cuOccupancyMaxPotentialClusterSize(&size, scale, &config));
  EXPECT_EQ(size, 8);
  config.gridDimX = 3;
  EXPECT_EQ(cuLaunchKernelEx(&config, scale, params, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&clusters, scale, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, ABadLaunchIsRefused) {
  const Module module;
  const CUfunction wild = module.function("wild");
  EXPECT_EQ(cuLaunchKernel(wild, 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(wild, 1, 1, 1, 2048, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Modules, KernelsAndVariablesHaveNames) {
  const Module module;
  CUfunction function = nullptr, functions[2] = {};
  unsigned count = 0;
  EXPECT_EQ(cuModuleGetFunction(&function, module.handle, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT_OK(cuModuleGetFunctionCount(&count, module.handle));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(cuModuleEnumerateFunctions(functions, 2, module.handle));
  for (const CUfunction f : functions) {
    const char* name = nullptr;
    CUmodule owner = nullptr;
    EXPECT_OK(cuFuncGetName(&name, f));
    EXPECT_TRUE(!std::strcmp(name, "scale") || !std::strcmp(name, "wild")) << name;
    EXPECT_OK(cuFuncGetModule(&owner, f));
    EXPECT_EQ(owner, module.handle);
  }
  const Floats in(ramp(10)), out(std::vector<float>(10));
  EXPECT_OK(launch_scale(module.function("scale"), in, out, 1));
  CUdeviceptr calls = 0;
  size_t bytes = 0;
  unsigned value = 0;
  EXPECT_OK(cuModuleGetGlobal(&calls, &bytes, module.handle, "calls"));
  EXPECT_EQ(bytes, 4u);
  EXPECT_OK(cuMemcpyDtoH(&value, calls, 4));
  EXPECT_EQ(value, 10u);
  EXPECT_EQ(cuModuleGetGlobal(&calls, &bytes, module.handle, "none"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Modules, AttributesAndOccupancy) {
  const Module module;
  const CUfunction scale = module.function("scale");
  int value = 0, blocks = 0, grid = 0, block = 0;
  EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
  EXPECT_EQ(value, 1024);
  EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, scale));
  EXPECT_EQ(value, 75);
  EXPECT_OK(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
  EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, scale));
  EXPECT_EQ(value, 65536);
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
  EXPECT_EQ(blocks, 8);
  EXPECT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, nullptr, 0, 0));
  EXPECT_EQ(block, 1024);
  EXPECT_GT(grid, 0);
  size_t offset = 0, size = 0;
  EXPECT_OK(cuFuncGetParamInfo(scale, 3, &offset, &size));
  EXPECT_EQ(offset, 20u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cuFuncGetParamInfo(scale, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, TheErrorLogSaysWhatIsWrong) {
  char log[2000] = {}, info[100] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_WALL_TIME};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log), info,
                    reinterpret_cast<void*>(sizeof info), nullptr};
  CUmodule module = nullptr;
  const char* bad = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k( {\n";
  EXPECT_EQ(cuModuleLoadDataEx(&module, bad, 5, options, values), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log), "");
  EXPECT_EQ(size_t(values[1]), std::strlen(log));
  EXPECT_STREQ(info, "");
}

// A driver compiles at once; here the kernel is looked at when it is first needed.
TEST_F(Modules, InstructionsOfOneArchitectureNeedItsSuffix) {
  int major = 0;
  EXPECT_OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  if (major != 9) GTEST_SKIP() << "the instruction is Hopper's";
  for (const std::string suffix : {"a", ""}) {
    const std::string ptx = ".version 8.0\n.target sm_90" + suffix +
                            "\n.address_size 64\n.visible .entry k() .maxntid 128 {\n"
                            "wgmma.fence.sync.aligned;\nret;\n}\n";
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUresult result = cuModuleLoadData(&module, ptx.c_str());
    if (result == CUDA_SUCCESS) result = cuModuleGetFunction(&function, module, "k");
    if (result == CUDA_SUCCESS)
      result = cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr);
    EXPECT_EQ(result, suffix.empty() ? CUDA_ERROR_INVALID_PTX : CUDA_SUCCESS);
  }
  EXPECT_OK(cuCtxSynchronize());
}

TEST_F(Modules, MachineCodeIsRefusedWithAReason) {
  if (std::getenv("RIDGE_TEST_REAL_GPU")) GTEST_SKIP() << "a GPU has other reasons";
  const unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  char log[500] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, elf, 2, options, values), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(std::string(log).find("cubin"), std::string::npos) << log;
}

TEST_F(Modules, AnUnloadedModuleIsGone) {
  Module module;
  EXPECT_OK(cuModuleUnload(module.handle));
  if (std::getenv("RIDGE_TEST_REAL_GPU")) return;  // where using it again may crash
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, module.handle, "scale"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module.handle), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Modules, FilesAndLibraries) {
  const std::string path = ::testing::TempDir() + "scale.ptx";
  std::ofstream(path) << kScalePtx;
  CUmodule module = nullptr;
  EXPECT_OK(cuModuleLoad(&module, path.c_str()));
  EXPECT_EQ(cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
  CUlibrary library = nullptr, owner = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  EXPECT_OK(
      cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_OK(cuLibraryGetKernel(&kernel, library, "scale"));
  EXPECT_OK(cuKernelGetFunction(&function, kernel));
  EXPECT_OK(cuKernelGetLibrary(&owner, kernel));
  EXPECT_EQ(owner, library);
  const Floats in(ramp(10)), out(std::vector<float>(10));
  EXPECT_OK(launch_scale(function, in, out, 5));
  EXPECT_EQ(out.values()[2], 11);
  EXPECT_OK(launch_scale(reinterpret_cast<CUfunction>(kernel), in, out, 6));
  EXPECT_EQ(out.values()[2], 13);
  EXPECT_OK(cuLibraryUnload(library));
}

TEST_F(Modules, TwoUnitsAreLinked) {
  const std::string header = ".version 8.0\n.target sm_75\n.address_size 64\n";
  std::string one = header +
                    ".extern .func (.param .b32 r) seven();\n"
                    ".visible .entry k(.param .u64 out) { .reg .b32 %r1; .reg .b64 %rd1; {\n"
                    ".param .b32 r; call.uni (r), seven; ld.param.b32 %r1, [r]; }\n"
                    "ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r1; ret; }\n";
  std::string two = header +
                    ".visible .func (.param .b32 r) seven() { .reg .b32 %r1; mov.u32 %r1, 7;\n"
                    "st.param.b32 [r], %r1; ret; }\n";
  CUlinkState state = nullptr;
  void* linked = nullptr;
  size_t size = 0;
  ASSERT_OK(cuLinkCreate(0, nullptr, nullptr, &state));
  for (std::string* unit : {&one, &two})
    EXPECT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, unit->data(), unit->size() + 1, "unit", 0,
                            nullptr, nullptr));
  EXPECT_OK(cuLinkComplete(state, &linked, &size));
  EXPECT_GT(size, 0u);
  const Module module(static_cast<const char*>(linked));
  EXPECT_OK(cuLinkDestroy(state));
  CUdeviceptr out = 0;
  EXPECT_OK(cuMemAlloc(&out, 4));
  void* arguments[] = {&out};
  EXPECT_OK(cuLaunchKernel(module.function("k"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  int value = 0;
  EXPECT_OK(cuMemcpyDtoH(&value, out, 4));
  EXPECT_EQ(value, 7);
}

TEST_F(Modules, WhatIsMissingIsTheLinkersError) {
  std::string unit = ".version 8.0\n.target sm_75\n.address_size 64\nrubbish\n";
  char log[1000] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlinkState state = nullptr;
  void* linked = nullptr;
  ASSERT_OK(cuLinkCreate(2, options, values, &state));
  const CUresult added = cuLinkAddData(state, CU_JIT_INPUT_PTX, unit.data(), unit.size() + 1,
                                       "unit", 0, nullptr, nullptr);
  EXPECT_TRUE(added != CUDA_SUCCESS || cuLinkComplete(state, &linked, nullptr) != CUDA_SUCCESS);
  EXPECT_NE(std::string(log), "");
  EXPECT_OK(cuLinkDestroy(state));
}

}  // namespace
}  // namespace ridge::vm::driver
