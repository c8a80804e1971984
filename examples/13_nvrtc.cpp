// A kernel that is compiled while the program runs: NVRTC turns CUDA C++ text into PTX, and the
// driver API loads and launches it.
//
// Why one would: the compiler then knows what this run knows. Here the coefficients of a polynomial
// become constants of the kernel, so it is a chain of multiply-adds without a loop or a load.
//
//   ridge run --nvcc "-lcuda -lnvrtc" examples/13_nvrtc.cpp
//   ridge run --nvcc "-lcuda -lnvrtc" examples/13_nvrtc.cpp -- 1 -2 0.5 3
//
// Try: misspell something in the kernel, and see NVRTC's log.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda.h>
#include <nvrtc.h>

static void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char *name = "?", *text = "?";
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s (%s)\n", what, name, text);
  std::exit(1);
}

static void check(nvrtcResult result, const char* what) {
  if (result == NVRTC_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, nvrtcGetErrorString(result));
  std::exit(1);
}

// Horner's rule, written out: ((c3 * x + c2) * x + c1) * x + c0
static std::string kernel_for(const std::vector<float>& coefficients) {
  std::string sum;
  for (size_t i = coefficients.size(); i-- > 0;) {
    char number[32];
    std::snprintf(number, sizeof number, "%af", double(coefficients[i]));
    sum = sum.empty() ? number : "fmaf(" + sum + ", x, " + number + ")";
  }
  return R"(
extern "C" __global__ void polynomial(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  out[i] = )" +
         sum + R"(;
}
)";
}

static std::string compile(const std::string& source, int capability) {
  nvrtcProgram program;
  check(nvrtcCreateProgram(&program, source.c_str(), "polynomial.cu", 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  const std::string arch = "--gpu-architecture=compute_" + std::to_string(capability);
  const char* options[] = {arch.c_str(), "-lineinfo"};
  const nvrtcResult result = nvrtcCompileProgram(program, 2, options);
  size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, '\0');
  nvrtcGetProgramLog(program, log.data());
  if (size > 1) std::fprintf(stderr, "%s", log.c_str());
  check(result, "nvrtcCompileProgram");
  check(nvrtcGetPTXSize(program, &size), "nvrtcGetPTXSize");
  std::string ptx(size, '\0');
  check(nvrtcGetPTX(program, ptx.data()), "nvrtcGetPTX");
  nvrtcDestroyProgram(&program);
  return ptx;
}

int main(int argc, char** argv) {
  std::vector<float> coefficients;
  for (int i = 1; i < argc; ++i) coefficients.push_back(float(std::atof(argv[i])));
  if (coefficients.empty()) coefficients = {1, 1, 0.5f, 1 / 6.0f, 1 / 24.0f};  // exp, nearly

  check(cuInit(0), "cuInit");
  CUdevice device;
  CUcontext context;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  int major = 0, minor = 0;
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);

  const std::string ptx = compile(kernel_for(coefficients), major * 10 + minor);
  CUmodule module;
  CUfunction polynomial;
  check(cuModuleLoadData(&module, ptx.c_str()), "cuModuleLoadData");
  check(cuModuleGetFunction(&polynomial, module, "polynomial"), "cuModuleGetFunction");

  int n = 10007;
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = 2 * float(i) / float(n) - 1;
  CUdeviceptr d_in, d_out;
  check(cuMemAlloc(&d_in, n * sizeof(float)), "cuMemAlloc");
  check(cuMemAlloc(&d_out, n * sizeof(float)), "cuMemAlloc");
  check(cuMemcpyHtoD(d_in, in.data(), n * sizeof(float)), "cuMemcpyHtoD");
  void* arguments[] = {&d_in, &d_out, &n};
  check(
      cuLaunchKernel(polynomial, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr),
      "cuLaunchKernel");
  check(cuMemcpyDtoH(out.data(), d_out, n * sizeof(float)), "cuMemcpyDtoH");

  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    float expected = 0;  // the same multiply-adds, so the same bits
    for (size_t c = coefficients.size(); c-- > 0;)
      expected = c + 1 == coefficients.size() ? coefficients[c]
                                              : std::fmaf(expected, in[i], coefficients[c]);
    if (!(out[i] == expected)) ++wrong;
  }
  std::printf("compiled %zu bytes of PTX for sm_%d%d at run time\n", ptx.size(), major, minor);
  std::printf("p(-1) = %g, p(0) = %g; %d of %d values are wrong\n", double(out[0]),
              double(out[n / 2]), wrong, n);

  cuMemFree(d_in);
  cuMemFree(d_out);
  cuModuleUnload(module);
  cuDevicePrimaryCtxRelease(device);
  return wrong == 0 ? 0 : 1;
}
