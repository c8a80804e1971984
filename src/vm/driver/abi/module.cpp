// CUmodule and CUlibrary: code a program loads itself.
#include "vm/cudart/runtime.h"
#include "vm/driver/contexts.h"
#include "vm/driver/loading.h"

using namespace ridge::vm::driver;
using ridge::vm::cudart::KernelHandle;
using ridge::vm::cudart::LoadedImage;

namespace {

// Loads what `load` makes, for the current context.
template <class Load>
CUresult load_module(CUmodule* module, unsigned count, CUjit_option* options, void** values,
                     Load&& load) {
  return context_call([&] {
    JitOptions jit;
    LoadedImage* image = nullptr;
    if (!module) return cudaErrorInvalidValue;
    if (const cudaError_t error = jit.read(count, options, values)) return error;
    if (const cudaError_t error = load(jit, &image)) return error;
    own(image, [image] { (void)unload_image(image); });
    *module = reinterpret_cast<CUmodule>(image);
    return cudaSuccess;
  });
}

// A library belongs to no context.
template <class Load>
CUresult load_library(CUlibrary* library, unsigned count, CUjit_option* options, void** values,
                      unsigned library_count, CUlibraryOption* library_options, Load&& load) {
  return driver_call([&] {
    JitOptions jit;
    LoadedImage* image = nullptr;
    if (!library || (library_count && !library_options)) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < library_count; ++i)
      if (library_options[i] == CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE)
        return refuse_call("a library with a host function table", "unified function pointers");
      else if (library_options[i] != CU_LIBRARY_BINARY_IS_PRESERVED) return cudaErrorInvalidValue;
    if (const cudaError_t error = jit.read(count, options, values)) return error;
    if (const cudaError_t error = load(jit, &image)) return error;
    *library = reinterpret_cast<CUlibrary>(image);
    return cudaSuccess;
  });
}

template <class Handle>
cudaError_t kernel(LoadedImage* image, const char* name, Handle* out) {
  KernelHandle* function = nullptr;
  if (!out) return cudaErrorInvalidValue;
  if (const cudaError_t error = find_kernel(image, name, &function)) return error;
  *out = reinterpret_cast<Handle>(function);
  return cudaSuccess;
}

}  // namespace

extern "C" {

CUresult cuModuleLoadDataEx(CUmodule* module, const void* code, unsigned count,
                            CUjit_option* options, void** values) {
  return load_module(module, count, options, values, [&](JitOptions& jit, LoadedImage** image) {
    return load_image(code, jit, image);
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* code) {
  return cuModuleLoadDataEx(module, code, 0, nullptr, nullptr);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* code) {
  return cuModuleLoadDataEx(module, code, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load_module(module, 0, nullptr, nullptr, [&](JitOptions& jit, LoadedImage** image) {
    return load_image_file(path, jit, image);
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return context_call([&] {
    if (const cudaError_t error = unload_image(image_of(module))) return error;
    disown(module);
    return cudaSuccess;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return context_call([&] { return kernel(image_of(module), name, function); });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return context_call([&] { return count_kernels(image_of(module), count); });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return context_call([&] { return list_kernels(image_of(module), functions, count); });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module,
                              const char* name) {
  return context_call([&] { return find_variable(image_of(module), name, false, address, bytes); });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {  // kernels are decoded on first use
  return driver_call([&] { return answer(mode, CU_MODULE_LAZY_LOADING); });
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption* library_options, void**,
                           unsigned library_count) {
  return load_library(
      library, count, options, values, library_count, library_options,
      [&](JitOptions& jit, LoadedImage** image) { return load_image(code, jit, image); });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                               void** values, unsigned count, CUlibraryOption* library_options,
                               void**, unsigned library_count) {
  return load_library(
      library, count, options, values, library_count, library_options,
      [&](JitOptions& jit, LoadedImage** image) { return load_image_file(path, jit, image); });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return driver_call([&] { return unload_image(image_of(library)); });
}

CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  return driver_call([&] { return kernel(image_of(library), name, out); });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return driver_call([&] { return count_kernels(image_of(library), count); });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return driver_call([&] { return list_kernels(image_of(library), kernels, count); });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return context_call([&] {
    if (!ridge::vm::cudart::registrations().is_library(image_of(library))) return kInvalidHandle;
    return answer(module, reinterpret_cast<CUmodule>(library));
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                            const char* name) {
  return context_call(
      [&] { return find_variable(image_of(library), name, false, address, bytes); });
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                             const char* name) {
  return driver_call([&] { return find_variable(image_of(library), name, true, address, bytes); });
}

}  // extern "C"
