// What cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make of many arguments: one line each
// with what was changed, the result and the map's 128 bytes. Nothing runs on the GPU.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tensor_map_case.h"

using namespace ridge::hopper;

namespace {

template <class F>
F driver_function(const char* name) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found);
  return reinterpret_cast<F>(f);
}

void show(std::FILE* out, const MapCase& c) {
  static const auto tiled =
      driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  static const auto columns =
      driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  alignas(64) uint8_t bytes[192];
  std::memset(bytes, 0, sizeof bytes);
  const CUresult result = c.encode(tiled, columns, bytes);
  std::fprintf(out, "%s\t%d\t", c.name().c_str(), int(result));
  if (result == CUDA_SUCCESS)
    for (int i = 0; i < 128; ++i) std::fprintf(out, "%02x", bytes[i]);
  std::fprintf(out, "\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::FILE* const out = std::fopen(argv[1], "w");
  // A child asks about null pointers, before this process starts CUDA.
  for (const bool im2col : {false, true})
    for (const MapCase& c : null_pointer_cases(im2col)) {
      std::fflush(out);
      const pid_t child = fork();
      if (child == 0) {
        cudaFree(nullptr);
        show(out, c);
        std::fclose(out);
        _exit(0);
      }
      int status;
      waitpid(child, &status, 0);
      if (WIFSIGNALED(status)) std::fprintf(out, "%s\tcrash\t\n", c.name().c_str());
    }
  cudaFree(nullptr);
  for (const MapCase& c : tensor_map_cases()) show(out, c);
  std::fclose(out);
}
