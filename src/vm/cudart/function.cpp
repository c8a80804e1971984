#include "vm/cudart/function.h"

#include <algorithm>

#include "vm/cudart/occupancy.h"
#include "vm/cudart/report.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {

constexpr int kDefaultShared = 48 * 1024;

cudaError_t resolve_function(const void* function, ResolvedFunction* resolved) {
  resolved->function = registrations().find_function(function);
  if (!resolved->function) return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t error = registrations().resolve(resolved->function, &resolved->kernel)) return error;
  const auto usage = runtime().engine.usage(resolved->kernel);
  if (!usage) {
    report_once(resolved->function->name, usage.error().message);
    return usage.error().code > 1 ? cudaError_t(usage.error().code) : cudaErrorInvalidPtx;
  }
  resolved->usage = *usage;
  return cudaSuccess;
}

int dynamic_shared_limit(const ResolvedFunction& f) {
  if (f.function->max_dynamic_shared >= 0) return f.function->max_dynamic_shared;
  return std::max(0, kDefaultShared - int(f.usage.static_shared));
}

int max_threads(const ResolvedFunction& f) {
  const int by_registers = threads_by_registers(runtime().gpu(), f.usage);
  return std::min(int(runtime().engine.info(f.kernel).max_threads), by_registers);
}

}  // namespace ridge::vm::cudart
