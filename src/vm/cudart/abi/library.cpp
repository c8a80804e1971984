// cudaLibrary_t: code a program loads itself.
#include <cstdio>
#include <memory>
#include <string>

#include "vm/cudart/errors.h"
#include "vm/cudart/memory.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm;
using namespace ridge::vm::cudart;

namespace {

LoadedImage* image_of(cudaLibrary_t library) { return reinterpret_cast<LoadedImage*>(library); }

// Of the compiler's options one shows in the results: at optimisation level 0 nothing is folded.
bool optimises(const cudaJitOption* options, void* const* values, unsigned count) {
  for (unsigned i = 0; options && values && i < count; ++i)
    if (options[i] == cudaJitOptimizationLevel) return reinterpret_cast<uintptr_t>(values[i]) != 0;
  return true;
}

cudaError_t load(cudaLibrary_t* library, const void* code, bool optimise) {
  if (!library || !code) return cudaErrorInvalidValue;
  LoadedImage* image = nullptr;
  if (const cudaError_t error = registrations().load_library(code, optimise, &image)) return error;
  *library = reinterpret_cast<cudaLibrary_t>(image);
  return cudaSuccess;
}

cudaError_t read_file(const char* path, std::string* bytes) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(path ? std::fopen(path, "rbe") : nullptr,
                                                   [](FILE* f) { return f ? std::fclose(f) : 0; });
  if (!file) return cudaErrorFileNotFound;
  char buffer[1 << 16];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, file.get()))
    bytes->append(buffer, got);
  return cudaSuccess;
}

cudaError_t variable(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name,
                     bool managed) {
  if (!name || (!pointer && !bytes)) return cudaErrorInvalidValue;
  Engine::Symbol symbol;
  if (const cudaError_t error = registrations().library_variable(image_of(library), name, &symbol))
    return error;
  const auto found = runtime().engine.memory().find(symbol.address);
  if (managed && (!found || !is_managed(*found))) return cudaErrorSymbolNotFound;
  if (pointer) *pointer = reinterpret_cast<void*>(symbol.address);
  if (bytes) *bytes = symbol.size;
  return cudaSuccess;
}

}  // namespace

extern "C" {

// Most compiler options (JIT) do not apply: PTX is interpreted.
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* options,
                                void** values, unsigned count, cudaLibraryOption*, void**,
                                unsigned) {
  return api([&] { return load(library, code, optimises(options, values, count)); });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                    cudaJitOption* options, void** values, unsigned count,
                                    cudaLibraryOption*, void**, unsigned) {
  return api([&] {
    std::string bytes;
    if (const cudaError_t error = read_file(path, &bytes)) return error;
    return load(library, bytes.c_str(), optimises(options, values, count));
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return api([&] {
    runtime().scheduler.wait_all();  // a kernel of it may still run
    return registrations().unload_library(image_of(library));
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return api([&] {
    if (!kernel || !name) return cudaErrorInvalidValue;
    KernelHandle* function = nullptr;
    if (const cudaError_t error =
            registrations().library_kernel(image_of(library), name, &function))
      return error;
    *kernel = reinterpret_cast<cudaKernel_t>(function);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return api([&] {
    std::vector<KernelHandle*> functions;
    if (!count) return cudaErrorInvalidValue;
    if (const cudaError_t error = registrations().library_kernels(image_of(library), &functions))
      return error;
    *count = unsigned(functions.size());
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                        cudaLibrary_t library) {
  return api([&] {
    std::vector<KernelHandle*> functions;
    if (!kernels) return cudaErrorInvalidValue;
    if (const cudaError_t error = registrations().library_kernels(image_of(library), &functions))
      return error;
    for (unsigned i = 0; i < count && i < functions.size(); ++i)
      kernels[i] = reinterpret_cast<cudaKernel_t>(functions[i]);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return api([&] { return variable(pointer, bytes, library, name, false); });
}

cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return api([&] { return variable(pointer, bytes, library, name, true); });
}

}  // extern "C"
