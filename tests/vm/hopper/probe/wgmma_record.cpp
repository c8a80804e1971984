// Runs every wgmma case on the device that the CUDA runtime offers and writes what it made.
//
//   wgmma_record --record FILE RAW   one line per case: a hash of each round's results;
//                                    RAW: the results themselves of the cases with N = 8
//   wgmma_record --ptx FILE          run nothing; write the module
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "wgmma_case.h"

using namespace ridge::hopper;

namespace {
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(error));
  std::exit(2);
}

struct Done {
  std::string line;
  std::vector<uint32_t> raw;
};

Done run(const WgmmaCase& c) {
  const std::string text = module_header() + kernel_text(c, "probe");
  cudaLibrary_t library;
  check(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        c.name().c_str());
  cudaKernel_t kernel;
  check(cudaLibraryGetKernel(&kernel, library, "probe"), "cudaLibraryGetKernel");
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, 65536),
        "cudaFuncSetAttribute");
  const int rounds = rounds_of(c);
  uint64_t in_bytes = c.input_words() * 4, out_bytes = c.output_words() * 4;
  std::vector<uint32_t> input, output(c.output_words() * rounds);
  for (int r = 0; r < rounds; ++r) {
    const auto one = make_input(c, r);
    input.insert(input.end(), one.begin(), one.end());
  }
  void *in, *out;
  check(cudaMalloc(&in, input.size() * 4), "cudaMalloc");
  check(cudaMalloc(&out, output.size() * 4), "cudaMalloc");
  check(cudaMemcpy(in, input.data(), input.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemset(out, 0xcd, output.size() * 4), "cudaMemset");
  uint64_t desc_a = descriptor(0, 128, 128 * c.k_bytes_a() / 16);
  uint64_t desc_b = descriptor(c.a_bytes() * c.chain, 128, 128 * c.k_bytes_b() / 16);
  uint64_t b_step = c.b_bytes() / 16;
  void* arguments[] = {&in, &in_bytes, &out, &out_bytes, &desc_a, &desc_b, &b_step};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(rounds), dim3(128), arguments,
                         c.shared_bytes(), nullptr),
        "cudaLaunchKernel");
  check(cudaMemcpy(output.data(), out, output.size() * 4, cudaMemcpyDeviceToHost),
        c.name().c_str());
  cudaFree(in);
  cudaFree(out);
  cudaLibraryUnload(library);
  Done done{c.name(), {}};
  for (int r = 0; r < rounds; ++r) {
    char hash[24];
    std::snprintf(hash, sizeof hash, "%c%08x", r ? ' ' : '\t',
                  uint32_t(hash_bytes(output.data() + r * c.output_words(), out_bytes)));
    done.line += hash;
  }
  if (c.n == 8) done.raw = std::move(output);
  return done;
}
}  // namespace

int main(int argc, char** argv) {
  const auto cases = wgmma_cases();
  const std::string mode = argc > 2 ? argv[1] : "";
  if (mode == "--ptx") {
    std::FILE* f = std::fopen(argv[2], "w");
    std::fputs(module_header().c_str(), f);
    for (size_t i = 0; i < cases.size(); ++i)
      std::fputs(kernel_text(cases[i], "probe_" + std::to_string(i)).c_str(), f);
    std::fclose(f);
    std::printf("%zu cases\n", cases.size());
    return 0;
  }
  if (mode != "--record" || argc < 4) return std::fprintf(stderr, "see the top of the source\n"), 2;
  std::vector<Done> done(cases.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::min(12u, std::thread::hardware_concurrency())); ++t)
    threads.emplace_back([&] {
      for (size_t i; (i = next++) < cases.size();) done[i] = run(cases[i]);
    });
  for (auto& t : threads) t.join();
  std::FILE* f = std::fopen(argv[2], "w");
  std::FILE* raw = std::fopen(argv[3], "wb");
  for (const Done& d : done) {
    std::fprintf(f, "%s\n", d.line.c_str());
    std::fwrite(d.raw.data(), 4, d.raw.size(), raw);
  }
  std::fclose(f);
  std::fclose(raw);
}
