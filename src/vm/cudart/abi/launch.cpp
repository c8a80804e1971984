// Launching kernels by name of the host function or by handle.
#include "vm/cudart/launch.h"

#include "vm/cudart/errors.h"
#include "vm/cudart/launch_attributes.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm::cudart;

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  return api([&] {
    return launch({.function = function,
                   .grid = grid,
                   .block = block,
                   .arguments = arguments,
                   .dynamic_shared = shared,
                   .stream = stream});
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared, cudaStream_t stream) {
  return api([&] {
    return launch({.function = function,
                   .grid = grid,
                   .block = block,
                   .arguments = arguments,
                   .dynamic_shared = shared,
                   .stream = stream,
                   .cooperative = true});
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return api([&] {
    if (!config || (config->numAttrs && !config->attrs)) return cudaErrorInvalidValue;
    LaunchRequest request{.function = function,
                          .grid = config->gridDim,
                          .block = config->blockDim,
                          .arguments = arguments,
                          .dynamic_shared = config->dynamicSmemBytes,
                          .stream = config->stream};
    for (unsigned i = 0; i < config->numAttrs; ++i)
      if (const cudaError_t error = apply(config->attrs[i], request)) return error;
    return launch(request);
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  return api([&] {
    if (!kernel) return cudaErrorInvalidValue;
    *kernel = reinterpret_cast<cudaKernel_t>(registrations().find_function(host));
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

}  // extern "C"
