// Launching kernels and host functions.
#include "vm/cudart/launch.h"

#include "vm/driver/arguments.h"
#include "vm/driver/launch_config.h"

using namespace ridge::vm::driver;

namespace {

cudaError_t launch_with(const void* function, dim3 grid, dim3 block, size_t shared, CUstream stream,
                        void** params, void** extra, bool cooperative) {
  Arguments arguments;
  if (!function) return kInvalidHandle;
  if (const cudaError_t error = arguments.read(function, params, extra)) return error;
  return ridge::vm::cudart::launch({.function = function,
                                    .grid = grid,
                                    .block = block,
                                    .arguments = arguments.pointers(),
                                    .dynamic_shared = shared,
                                    .stream = stream,
                                    .cooperative = cooperative});
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** params, void** extra) {
  return context_call([&] {
    return launch_with(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared,
                       stream, params, extra, false);
  });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** params) {
  return context_call([&] {
    return launch_with(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared,
                       stream, params, nullptr, true);
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction function, void** params,
                          void** extra) {
  return context_call([&] {
    Arguments arguments;
    if (!c) return cudaErrorInvalidValue;
    if (!function) return kInvalidHandle;
    if (const cudaError_t error = arguments.read(function, params, extra)) return error;
    const cudaLaunchConfig_t same = runtime_config(*c);
    return cudaLaunchKernelExC(&same, function, arguments.pointers());
  });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return context_call([&] { return cudaLaunchHostFunc(stream, function, data); });
}

}  // extern "C"
