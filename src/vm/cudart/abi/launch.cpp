// Launching kernels by name of the host function or by handle.
#include "vm/cudart/launch.h"

#include <string>

#include "vm/cudart/errors.h"
#include "vm/cudart/refuse.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm::cudart;

namespace {

const char* name_of(cudaLaunchAttributeID id) {
  switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow: return "access policy window";
    case cudaLaunchAttributeClusterDimension: return "cluster dimension";
    case cudaLaunchAttributeClusterSchedulingPolicyPreference: return "cluster scheduling policy";
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      return "programmatic stream serialization";
    case cudaLaunchAttributeProgrammaticEvent: return "programmatic event";
    case cudaLaunchAttributeMemSyncDomainMap: return "memory sync domain map";
    case cudaLaunchAttributeMemSyncDomain: return "memory sync domain";
    case cudaLaunchAttributePreferredClusterDimension: return "preferred cluster dimension";
    case cudaLaunchAttributeLaunchCompletionEvent: return "launch completion event";
    case cudaLaunchAttributeDeviceUpdatableKernelNode: return "device-updatable kernel node";
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      return "preferred shared memory carveout";
    default: return nullptr;
  }
}

// What each attribute of a launch does to it.
cudaError_t apply(const cudaLaunchAttribute& attribute, LaunchRequest& request) {
  switch (attribute.id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributePriority:  // a hint: kernels of one process share all cores
    case cudaLaunchAttributePreferredSharedMemoryCarveout:  // a hint
      return cudaSuccess;
    case cudaLaunchAttributeCooperative:
      request.cooperative = attribute.val.cooperative != 0;
      return cudaSuccess;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      return cudaSuccess;  // allows an overlap; running in order is one of the allowed outcomes
    case cudaLaunchAttributeClusterDimension: {
      const auto& c = attribute.val.clusterDim;
      if (c.x == 1 && c.y == 1 && c.z == 1) return cudaSuccess;
      break;
    }
    default: break;
  }
  const char* name = name_of(attribute.id);
  if (!name) return cudaErrorInvalidValue;
  return cudaError_t(
      refuse((std::string("launch attribute ") + name).c_str(), "launch attributes"));
}

}  // namespace

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
