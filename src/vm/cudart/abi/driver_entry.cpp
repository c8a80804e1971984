// The driver's functions, for programs that ask the runtime for them.
#include <dlfcn.h>

#include <string>

#include "vm/cudart/errors.h"
#include "vm/cudart/report.h"
#include "vm/cudart/runtime.h"

using namespace ridge::vm::cudart;

namespace {

using GetProcAddress = int(const char*, void**, int, uint64_t, int*);  // cuGetProcAddress_v2

// Of the libcuda.so.1 beside this library, whatever else is called so.
GetProcAddress* load_driver() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&load_driver), &self)) return nullptr;
  const std::string path(self.dli_fname);
  const std::string driver = path.substr(0, path.rfind('/') + 1) + "libcuda.so.1";
  void* library = dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    report("the driver API cannot be loaded: " + std::string(dlerror()));
    return nullptr;
  }
  return reinterpret_cast<GetProcAddress*>(dlsym(library, "cuGetProcAddress_v2"));
}

cudaError_t entry_point(const char* symbol, void** function, unsigned version,
                        unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  static GetProcAddress* const get = load_driver();
  if (!symbol || !function) return cudaErrorInvalidValue;
  if (!get) return cudaErrorNotSupported;
  int found = 0;
  if (const int error = get(symbol, function, int(version), flags, &found))
    return cudaError_t(error);
  if (status) *status = cudaDriverEntryPointQueryResult(found);  // the same three answers
  return cudaSuccess;
}

constexpr unsigned kVersion = CUDART_VERSION / 1000 * 1000;

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return api([&] { return entry_point(symbol, function, version, flags, status); });
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return api([&] { return entry_point(symbol, function, kVersion, flags, status); });
}

// A CUfunction is the kernel itself.
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return api([&] {
    if (!function) return cudaErrorInvalidValue;
    *function = reinterpret_cast<cudaFunction_t>(registrations().find_function(symbol));
    return *function ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

}  // extern "C"
