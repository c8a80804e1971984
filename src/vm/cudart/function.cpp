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
                {.asked = {}, .why = usage.error().message, .fix = {}});
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

dim3 required_cluster(const ResolvedFunction& f) {
  const uint32_t* compiled = runtime().engine.info(f.kernel).required_cluster;
  if (compiled[0]) return dim3(compiled[0], compiled[1], compiled[2]);
  const auto& set = f.function->required_cluster;
  return dim3(unsigned(set[0]), unsigned(set[1]), unsigned(set[2]));
}

int largest_cluster(const ResolvedFunction& f) {
  constexpr int kPortable = 8, kLargest = 16;
  return f.function->large_clusters ? kLargest : kPortable;
}

ClusterShape cluster_shape(const ResolvedFunction& f, const std::optional<dim3>& asked,
                           const dim3& grid) {
  const KernelInfo& info = runtime().engine.info(f.kernel);
  const auto text = [](const dim3& d) {
    return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
  };
  const auto wrong = [](std::string why, std::string fix) {
    return ClusterShape{{}, std::move(why), std::move(fix), cudaErrorInvalidClusterSize};
  };
  const dim3 required = required_cluster(f);
  const bool fixed = required.x || required.y || required.z;
  if (!asked && !fixed)
    return info.needs_cluster ? wrong("the kernel needs a launch with a cluster dimension",
                                      "launch it with cudaLaunchKernelEx and "
                                      "cudaLaunchAttributeClusterDimension")
                              : ClusterShape{};
  const dim3 size = asked.value_or(required);
  if (asked && fixed && (size.x != required.x || size.y != required.y || size.z != required.z))
    return wrong("clusters of " + text(size) + " blocks, but the kernel requires " + text(required),
                 "leave the launch attribute out, or let it say the same as __cluster_dims__");
  const uint64_t blocks = uint64_t(size.x) * size.y * size.z;
  if (blocks == 0)
    return wrong("clusters of 0 blocks, at least 1",
                 "set all three dimensions, to 1 where there is no other");
  if (runtime().gpu().major < 9 && blocks > 1)
    return {
        {}, "clusters of " + text(size) + " blocks; this GPU has none", {}, cudaErrorNotSupported};
  const auto most = uint64_t(largest_cluster(f));
  if (blocks > most || (info.max_cluster && blocks > info.max_cluster))
    return wrong(
        "clusters of " + std::to_string(blocks) + " blocks, at most " +
            std::to_string(info.max_cluster ? std::min<uint64_t>(info.max_cluster, most) : most) +
            (f.function->large_clusters
                 ? ""
                 : " without cudaFuncAttributeNonPortableClusterSizeAllowed"),
        "use smaller clusters; 8 blocks run on every GPU that has clusters");
  if (info.grid_of_clusters) return {size, {}, {}, cudaSuccess};
  if (grid.x % size.x || grid.y % size.y || grid.z % size.z)
    return wrong("a grid of " + text(grid) + " blocks is no multiple of clusters of " + text(size),
                 "round the grid up to whole clusters, and let the blocks without work end early");
  return {size, {}, {}, cudaSuccess};
}

// As the real runtime computes it: without the bytes each block reserves for the system.
size_t shared_per_block(const ResolvedFunction& f, int blocks) {
  constexpr size_t kUnit = 128;
  const size_t each = size_t(runtime().gpu().shared_per_sm) / size_t(blocks) / kUnit * kUnit;
  return each > f.usage.static_shared ? each - f.usage.static_shared : 0;
}

}  // namespace ridge::vm::cudart
