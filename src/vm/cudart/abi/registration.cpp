// What nvcc's host code calls by itself: before main to register, at each <<<>>> to launch, after
// main to unregister.
#include <utility>

#include "vm/cudart/errors.h"
#include "vm/cudart/launch.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm::cudart;

namespace {

LoadedImage* image_of(void** handle) { return reinterpret_cast<LoadedImage*>(handle); }

struct CallConfiguration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
// Between <<<…>>> and the stub it calls nothing else launches, so that one would do. No vector: a
// thread that starts to use one needs memory that it may not get.
struct Configurations {
  static constexpr size_t kMost = 16;
  CallConfiguration all[kMost];
  size_t count;
};
thread_local Configurations configurations;

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(registrations().add_fat_binary(wrapper));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) { registrations().remove(image_of(handle)); }

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  registrations().add_function(image_of(handle), host, name);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t size,
                       int constant, int) {
  registrations().add_variable(image_of(handle), host,
                               {.name = name, .size = size, .constant = constant != 0});
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int,
                              size_t size, int constant, int) {
  registrations().add_variable(
      image_of(handle), host_pointer,
      {.name = name, .size = size, .constant = constant != 0, .managed_pointer = host_pointer});
}

// Called before the host first touches a __managed__ variable: its pointer must hold an address
// from now on.
char __cudaInitModule(void** handle) {
  return api([&] { return registrations().load(image_of(handle)); }) == cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  if (configurations.count == Configurations::kMost) return remember(cudaErrorInvalidConfiguration);
  configurations.all[configurations.count++] = {grid, block, shared, stream};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations.count == 0) return remember(cudaErrorMissingConfiguration);
  const CallConfiguration c = configurations.all[--configurations.count];
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  KernelHandle* function = registrations().find_function(host);
  *kernel = reinterpret_cast<cudaKernel_t>(function);
  return function ? cudaSuccess : remember(cudaErrorInvalidDeviceFunction);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return api([&] {
    return launch({.function = kernel,
                   .grid = grid,
                   .block = block,
                   .arguments = arguments,
                   .dynamic_shared = shared,
                   .stream = stream});
  });
}

}  // extern "C"
#pragma GCC visibility pop
