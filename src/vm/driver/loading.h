// Modules and libraries: code a program loads itself. Both are the runtime's libraries; a module
// goes with the context it was loaded in.
#pragma once

#include "vm/cudart/modules.h"
#include "vm/driver/jit.h"

namespace ridge::vm::driver {

inline cudart::LoadedImage* image_of(CUmodule module) {
  return reinterpret_cast<cudart::LoadedImage*>(module);
}
inline cudart::LoadedImage* image_of(CUlibrary library) {
  return reinterpret_cast<cudart::LoadedImage*>(library);
}

cudaError_t load_image(const void* code, JitOptions& options, cudart::LoadedImage** image);
cudaError_t load_image_file(const char* path, JitOptions& options, cudart::LoadedImage** image);
cudaError_t unload_image(cudart::LoadedImage* image);  // waits for kernels of it
cudaError_t read_file(const char* path, std::string* bytes);

// Lists handed out into an array of the caller's.
template <class Handle>
cudaError_t list_kernels(cudart::LoadedImage* image, Handle* out, unsigned count);
cudaError_t count_kernels(cudart::LoadedImage* image, unsigned* count);
cudaError_t find_kernel(cudart::LoadedImage* image, const char* name,
                        cudart::KernelHandle** function);
// Either output may be null, not both.
cudaError_t find_variable(cudart::LoadedImage* image, const char* name, bool managed,
                          CUdeviceptr* address, size_t* bytes);

}  // namespace ridge::vm::driver
