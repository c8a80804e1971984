// Reads operands of wgmma through many descriptors and writes where their elements came from.
//
//   wgmma_layout_record --record FILE RAW   FILE: one line per kernel with a hash for each
//                                           descriptor; RAW: all maps, [kernel][descriptor]
//   wgmma_layout_record --ptx FILE          run nothing; write the module
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "wgmma_layout.h"

using namespace ridge::hopper;

namespace {
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(error));
  std::exit(2);
}
}  // namespace

int main(int argc, char** argv) {
  const auto kernels = layout_kernels();
  const auto descriptors = layout_descriptors();
  const std::string mode = argc > 2 ? argv[1] : "";
  if (mode == "--ptx") {
    std::FILE* f = std::fopen(argv[2], "w");
    std::fputs(module_header().c_str(), f);
    for (size_t i = 0; i < kernels.size(); ++i)
      std::fputs(kernel_text(kernels[i].wgmma, "probe_" + std::to_string(i)).c_str(), f);
    std::fclose(f);
    std::printf("%zu kernels, %zu descriptors\n", kernels.size(), descriptors.size());
    return 0;
  }
  if (mode != "--record" || argc < 4) return std::fprintf(stderr, "see the top of the source\n"), 2;
  std::FILE* f = std::fopen(argv[2], "w");
  std::FILE* raw = std::fopen(argv[3], "wb");
  for (const LayoutKernel& k : kernels) {
    const WgmmaCase& c = k.wgmma;
    const std::string text = module_header() + kernel_text(c, "probe");
    cudaLibrary_t library;
    check(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          k.name().c_str());
    cudaKernel_t kernel;
    check(cudaLibraryGetKernel(&kernel, library, "probe"), "cudaLibraryGetKernel");
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024),
          "cudaFuncSetAttribute");
    const auto input = layout_input(k);
    uint64_t in_bytes = c.input_words() * 4, out_bytes = c.output_words() * 4;
    std::vector<uint32_t> output(c.output_words() * k.digits());
    void *in, *out;
    check(cudaMalloc(&in, input.size() * 4), "cudaMalloc");
    check(cudaMalloc(&out, output.size() * 4), "cudaMalloc");
    check(cudaMemcpy(in, input.data(), input.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
    std::fprintf(f, "%s\t", k.name().c_str());
    for (const Descriptor& d : descriptors) {
      uint64_t desc_a = d.word(), desc_b = d.word(), step = 0;
      if (k.operand == 'A') desc_b = identity_descriptor(k);
      void* arguments[] = {&in, &in_bytes, &out, &out_bytes, &desc_a, &desc_b, &step};
      check(cudaMemset(out, 0, output.size() * 4), "cudaMemset");
      check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(k.digits()), dim3(128),
                             arguments, 200 * 1024, nullptr),
            "cudaLaunchKernel");
      check(cudaMemcpy(output.data(), out, output.size() * 4, cudaMemcpyDeviceToHost),
            k.name().c_str());
      const auto map = layout_map(k, output.data());
      std::fprintf(f, "%08x", uint32_t(hash_bytes(map.data(), map.size() * 2)));
      std::fwrite(map.data(), 2, map.size(), raw);
    }
    std::fprintf(f, "\n");
    cudaFree(in);
    cudaFree(out);
    cudaLibraryUnload(library);
  }
  std::fclose(f);
  std::fclose(raw);
}
