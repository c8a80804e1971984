#include "vm/cudart/function.h"

#include <algorithm>

#include "core/occupancy.h"
#include "vm/cudart/failed_call.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {

cudaError_t resolve_function(const void* function, ResolvedFunction* resolved) {
  resolved->function = registrations().find_function(function);
  if (!function) return cudaErrorInvalidDeviceFunction;
  if (!resolved->function) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = registrations().resolve(resolved->function, &resolved->kernel))
    return error;
  const auto usage = runtime().engine.usage(resolved->kernel);
  if (!usage) {
    const int code = usage.error().code;
    return fail(code > 1 ? cudaError_t(code) : cudaErrorInvalidPtx,
                {.asked = "the launch", .why = usage.error().message, .fix = {}});
  }
  resolved->usage = *usage;
  const uint32_t most = runtime().engine.info(resolved->kernel).max_registers;
  resolved->usage.registers = std::min(resolved->usage.registers, most);
  return cudaSuccess;
}

int dynamic_shared_limit(const ResolvedFunction& f) {
  if (f.function->max_dynamic_shared >= 0) return f.function->max_dynamic_shared;
  return std::max(0, kSharedPerBlock - int(f.usage.static_shared));
}

namespace {

int threads_that_fit(const ResolvedFunction& f, int registers) {
  int threads = int(runtime().engine.info(f.kernel).max_threads);
  while (threads > kWarpSize && blocks_by_registers(runtime().gpu(), threads, registers) < 1)
    threads -= kWarpSize;
  return threads;
}

}  // namespace

int max_threads(const ResolvedFunction& f) { return threads_that_fit(f, int(f.usage.registers)); }

// The register count is an estimate of ptxas's: a launch is refused only where a quarter less would
// not help either.
bool has_registers_for(const ResolvedFunction& f, int threads) {
  return threads <= threads_that_fit(f, int(f.usage.registers) * 3 / 4);
}

int blocks_per_sm(const ResolvedFunction& f, int threads, size_t dynamic_shared) {
  const KernelResources kernel{.block_threads = threads,
                               .registers_per_thread = int(f.usage.registers),
                               .shared_bytes = int64_t(f.usage.static_shared + dynamic_shared)};
  return occupancy(runtime().gpu(), kernel).blocks_per_sm;
}

// As the real runtime computes it: without the bytes each block reserves for the system.
size_t shared_per_block(const ResolvedFunction& f, int blocks) {
  constexpr size_t kUnit = 128;
  const size_t each = size_t(runtime().gpu().shared_per_sm) / size_t(blocks) / kUnit * kUnit;
  return each > f.usage.static_shared ? each - f.usage.static_shared : 0;
}

}  // namespace ridge::vm::cudart
