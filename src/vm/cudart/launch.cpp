#include "vm/cudart/launch.h"

#include <cstring>
#include <string>
#include <tuple>

#include "core/occupancy.h"
#include "vm/cudart/capture.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/events.h"
#include "vm/cudart/failed_call.h"
#include "vm/cudart/function.h"
#include "vm/cudart/host_arrays.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"
#include "vm/cudart/work.h"

namespace ridge::vm::cudart {
namespace {

// The same on every GPU since sm_30.
constexpr uint32_t kMaxGridX = 2147483647, kMaxGridYZ = 65535, kMaxBlockXY = 1024, kMaxBlockZ = 64;

std::vector<uint8_t> pack(const KernelInfo& info, void** arguments) {
  std::vector<uint8_t> bytes(info.param_bytes);
  for (size_t i = 0; i < info.params.size(); ++i)
    std::memcpy(bytes.data() + info.params[i].offset, arguments[i], info.params[i].size);
  return bytes;
}

// "(2, 3)" as in <<<>>>: without the dimensions that are 1 at the end.
std::string text_of(const dim3& d) {
  if (d.y == 1 && d.z == 1) return std::to_string(d.x);
  std::string text = "(" + std::to_string(d.x) + ", " + std::to_string(d.y);
  if (d.z != 1) text += ", " + std::to_string(d.z);
  return text + ")";
}

std::string text_of(const LaunchRequest& request, const KernelInfo& info) {
  std::string text = "launch of " + report::function_name(info.name) + "<<<" +
                     text_of(request.grid) + ", " + text_of(request.block);
  if (request.dynamic_shared) text += ", " + std::to_string(request.dynamic_shared);
  return text + ">>>";
}

// Which of three numbers does not lie between 1 and its limit; empty: all do.
std::string out_of_limits(const char* what, const dim3& d, uint32_t x, uint32_t y, uint32_t z) {
  for (const auto& [name, number, most] :
       {std::tuple("x", d.x, x), std::tuple("y", d.y, y), std::tuple("z", d.z, z)}) {
    if (number == 0) return std::string(what) + "." + name + " is 0, at least 1";
    if (number > most)
      return std::string(what) + "." + name + " is " + std::to_string(number) + ", at most " +
             std::to_string(most);
  }
  return {};
}

cudaError_t check(const LaunchRequest& request, const ResolvedFunction& function) {
  const dim3& block = request.block;
  const KernelInfo& info = runtime().engine.info(function.kernel);
  const auto refuse_launch = [&](cudaError_t error, std::string why, std::string fix = {}) {
    return fail(error, {text_of(request, info), std::move(why), std::move(fix)});
  };
  const uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (threads > kMaxThreadsPerBlock)
    return refuse_launch(
        cudaErrorInvalidValue,
        std::to_string(threads) + " threads per block, at most " +
            std::to_string(kMaxThreadsPerBlock),
        threads > request.grid.x && request.grid.x <= kMaxThreadsPerBlock
            ? "the order is <<<blocks, threads per block>>>; use more blocks of fewer threads"
            : "use more blocks of fewer threads");
  if (std::string why = out_of_limits("gridDim", request.grid, kMaxGridX, kMaxGridYZ, kMaxGridYZ);
      !why.empty())
    return refuse_launch(cudaErrorInvalidValue, std::move(why),
                         "is the number of blocks rounded up? (n + threads - 1) / threads");
  if (std::string why = out_of_limits("blockDim", block, kMaxBlockXY, kMaxBlockXY, kMaxBlockZ);
      !why.empty())
    return refuse_launch(cudaErrorInvalidValue, std::move(why));
  if (threads > info.max_threads)
    return refuse_launch(cudaErrorInvalidValue, std::to_string(threads) +
                                                    " threads per block, at most " +
                                                    std::to_string(info.max_threads) +
                                                    " by the kernel's __launch_bounds__");
  const uint32_t* required = info.required_threads;
  if (required[0] && (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return refuse_launch(cudaErrorInvalidValue, "the kernel's __block_size__ is (" +
                                                    std::to_string(required[0]) + ", " +
                                                    std::to_string(required[1]) + ", " +
                                                    std::to_string(required[2]) + ")");
  if (ClusterShape cluster = cluster_shape(function, request.cluster, request.grid); cluster.error)
    return refuse_launch(cluster.error, std::move(cluster.why), std::move(cluster.fix));
  if (!has_registers_for(function, int(threads)))
    return refuse_launch(
        cudaErrorLaunchOutOfResources,
        std::to_string(threads) + " threads of " + std::to_string(function.usage.registers) +
            " registers each do not fit into an SM",
        "use fewer threads per block, or __launch_bounds__ so that the compiler uses fewer "
        "registers");
  const size_t shared_limit = size_t(dynamic_shared_limit(function));
  if (request.dynamic_shared > shared_limit)
    return refuse_launch(
        request.cooperative ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidValue,
        std::to_string(request.dynamic_shared) + " bytes of dynamic shared memory, at most " +
            std::to_string(shared_limit),
        "more than 48 KB per block has to be asked for: cudaFuncSetAttribute(kernel, "
        "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)");
  if (!request.cooperative) return cudaSuccess;
  const uint64_t resident = uint64_t(blocks_per_sm(function, int(threads), request.dynamic_shared));
  const uint64_t blocks = uint64_t(request.grid.x) * request.grid.y * request.grid.z;
  const uint64_t most = resident * uint64_t(runtime().gpu().sm_count);
  if (blocks <= most) return cudaSuccess;
  return refuse_launch(cudaErrorCooperativeLaunchTooLarge,
                       std::to_string(blocks) + " blocks of a cooperative launch, at most " +
                           std::to_string(most) + " are resident at once",
                       "ask cudaOccupancyMaxActiveBlocksPerMultiprocessor how many fit");
}

}  // namespace

cudaError_t prepare(const LaunchRequest& request, Launch* launch) {
  LaunchNotesRef notes = take_launch_notes();  // also where the launch fails
  ResolvedFunction function;
  if (const cudaError_t error = resolve_function(request.function, &function)) return error;
  if (const cudaError_t error = check(request, function)) return error;
  const KernelInfo& info = runtime().engine.info(function.kernel);
  if (!info.params.empty() && !request.arguments) return cudaErrorInvalidValue;
  launch->kernel = function.kernel;
  launch->grid = {request.grid.x, request.grid.y, request.grid.z};
  launch->block = {request.block.x, request.block.y, request.block.z};
  launch->dynamic_shared = uint32_t(request.dynamic_shared);
  launch->params = pack(info, request.arguments);
  launch->notes = std::move(notes);
  launch->cooperative = request.cooperative;
  const dim3 cluster = cluster_shape(function, request.cluster, request.grid).size;
  launch->explicit_cluster = cluster.x != 0;
  if (launch->explicit_cluster) launch->cluster = {cluster.x, cluster.y, cluster.z};
  if (info.grid_of_clusters)
    launch->grid = {request.grid.x * cluster.x, request.grid.y * cluster.y,
                    request.grid.z * cluster.z};
  return cudaSuccess;
}

void run(const Launch& launch, Dependence* dependence) {
  if (sticky_error()) return;
  record_fault(runtime().engine.run(launch, dependence));
}

cudaError_t launch(const LaunchRequest& request) {
  const StreamRef stream = find_stream(request.stream);
  if (!stream) return cudaErrorInvalidResourceHandle;
  KernelWork work{
      .function = request.function, .launch = {}, .hints = request.hints, .early = request.early};
  if (const cudaError_t error = prepare(request, &work.launch)) {
    (void)refuse_in_capture(stream);  // a launch that fails ends the capture it was meant for
    return error;
  }
  if (const cudaError_t error = enqueue(stream, std::move(work))) return error;
  for (const auto& [event, flags, programmatic] : request.events)
    if (const cudaError_t error = record_launch_event(event, request.stream, flags, programmatic))
      return error;
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
