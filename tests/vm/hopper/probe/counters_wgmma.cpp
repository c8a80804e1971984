// Kernels of four wgmma each, to be counted by Nsight Compute: one launch per kernel, named for
// what it does.
//
//   ncu … counters_wgmma          runs them
//   counters_wgmma --ptx FILE     runs nothing; writes the module
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "wgmma_case.h"

using namespace ridge::hopper;

namespace {
struct Kernel {
  std::string name;
  WgmmaCase wgmma;
  uint64_t desc_a, desc_b;
};

std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
  static constexpr int kSpan[] = {16, 128, 64, 32};
  const auto add = [&](std::string name, WgmmaCase c, int swizzle, uint64_t stride = 0) {
    c.chain = 4;
    c.image_bytes = 65536;
    const auto span = uint64_t(kSpan[swizzle]);
    // Rows of one span; groups of eight rows one after the other; without swizzling, pieces of K
    // 128 bytes apart.
    const uint64_t group = stride ? stride : swizzle ? 8 * span : 256;
    const uint64_t leading = swizzle ? 16384 : 128;
    all.push_back({std::move(name), c, descriptor(0, leading, group, uint64_t(swizzle)),
                   descriptor(16384, leading, group, uint64_t(swizzle))});
  };
  const auto of = [](Kind d, Kind a, int n, bool in_registers = false, bool sparse = false) {
    WgmmaCase c;
    c.d = d;
    c.a = c.b = a;
    c.n = n;
    c.a_in_registers = in_registers;
    c.sparse = sparse;
    return c;
  };
  static const char* const kSwizzles[] = {"none", "128", "64", "32"};
  for (int n : {8, 64, 128, 256})
    for (int swizzle = 0; swizzle < 4; ++swizzle)
      add("f16_shared_n" + std::to_string(n) + "_swizzle_" + kSwizzles[swizzle],
          of(Kind::f32, Kind::f16, n), swizzle);
  for (int n : {8, 64, 256})
    for (int swizzle : {0, 1})
      add("f16_registers_n" + std::to_string(n) + "_swizzle_" + kSwizzles[swizzle],
          of(Kind::f32, Kind::f16, n, true), swizzle);
  for (int n : {64, 256}) {
    WgmmaCase c = of(Kind::f32, Kind::f16, n);
    c.trans_b = true;
    add("f16_shared_n" + std::to_string(n) + "_b_transposed_swizzle_128", c, 1);
    c.trans_a = true;
    add("f16_shared_n" + std::to_string(n) + "_both_transposed_swizzle_128", c, 1);
  }
  add("f16_shared_n64_swizzle_none_stride_1024", of(Kind::f32, Kind::f16, 64), 0, 1024);
  add("f16_shared_n64_swizzle_none_stride_272", of(Kind::f32, Kind::f16, 64), 0, 272);
  add("bf16_shared_n64_swizzle_128", of(Kind::f32, Kind::bf16, 64), 1);
  add("f16_f16_shared_n64_swizzle_128", of(Kind::f16, Kind::f16, 64), 1);
  add("tf32_shared_n64_swizzle_128", of(Kind::f32, Kind::tf32, 64), 1);
  add("e4m3_shared_n64_swizzle_128", of(Kind::f32, Kind::e4m3, 64), 1);
  add("s8_shared_n64_swizzle_128", of(Kind::s32, Kind::s8, 64), 1);
  add("b1_shared_n64_swizzle_128", of(Kind::s32, Kind::b1, 64), 1);
  add("f16_sparse_shared_n64_swizzle_128", of(Kind::f32, Kind::f16, 64, false, true), 1);
  add("f16_sparse_registers_n64_swizzle_128", of(Kind::f32, Kind::f16, 64, true, true), 1);
  add("e4m3_sparse_shared_n64_swizzle_128", of(Kind::f32, Kind::e4m3, 64, false, true), 1);
  return all;
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(error));
  std::exit(2);
}
}  // namespace

int main(int argc, char** argv) {
  std::string text = module_header();
  for (const Kernel& k : kernels()) text += kernel_text(k.wgmma, k.name);
  if (argc > 2) {
    std::FILE* f = std::fopen(argv[2], "w");
    std::fputs(text.c_str(), f);
    return std::fclose(f);
  }
  cudaLibrary_t library;
  check(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
  void *in, *out;
  check(cudaMalloc(&in, 1 << 20), "cudaMalloc");
  check(cudaMalloc(&out, 1 << 20), "cudaMalloc");
  std::vector<uint8_t> image(1 << 20);
  Stream stream(1);
  fill(image.data(), image.size(), Kind::f16, Role::factor, kUnit, stream);
  check(cudaMemcpy(in, image.data(), image.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  for (const Kernel& k : kernels()) {
    cudaKernel_t kernel;
    check(cudaLibraryGetKernel(&kernel, library, k.name.c_str()), k.name.c_str());
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024),
          "cudaFuncSetAttribute");
    uint64_t zero = 0, a = k.desc_a, b = k.desc_b, step = 0;
    void* arguments[] = {&in, &zero, &out, &zero, &a, &b, &step};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(128), arguments,
                           200 * 1024, nullptr),
          k.name.c_str());
    check(cudaDeviceSynchronize(), k.name.c_str());
  }
}
