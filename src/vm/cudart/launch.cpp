#include "vm/cudart/launch.h"

#include <cstring>

#include "core/occupancy.h"
#include "vm/cudart/capture.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/events.h"
#include "vm/cudart/function.h"
#include "vm/cudart/refuse.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"
#include "vm/cudart/work.h"

namespace ridge::vm::cudart {
namespace {

// The same on every GPU since sm_30.
constexpr uint32_t kMaxGridX = 2147483647, kMaxGridYZ = 65535, kMaxBlockXY = 1024, kMaxBlockZ = 64;

bool fits(const dim3& d, uint32_t x, uint32_t y, uint32_t z) {
  return d.x >= 1 && d.y >= 1 && d.z >= 1 && d.x <= x && d.y <= y && d.z <= z;
}

std::vector<uint8_t> pack(const KernelInfo& info, void** arguments) {
  std::vector<uint8_t> bytes(info.param_bytes);
  for (size_t i = 0; i < info.params.size(); ++i)
    std::memcpy(bytes.data() + info.params[i].offset, arguments[i], info.params[i].size);
  return bytes;
}

cudaError_t check(const LaunchRequest& request, const ResolvedFunction& function) {
  const dim3& block = request.block;
  if (!fits(request.grid, kMaxGridX, kMaxGridYZ, kMaxGridYZ)) return cudaErrorInvalidValue;
  if (!fits(block, kMaxBlockXY, kMaxBlockXY, kMaxBlockZ)) return cudaErrorInvalidValue;
  const uint64_t threads = uint64_t(block.x) * block.y * block.z;
  const KernelInfo& info = runtime().engine.info(function.kernel);
  if (threads > kMaxThreadsPerBlock || threads > info.max_threads) return cudaErrorInvalidValue;
  const uint32_t* required = info.required_threads;
  if (required[0] && (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return cudaErrorInvalidValue;
  if (const uint32_t* c = info.required_cluster; uint64_t(c[0]) * c[1] * c[2] > 1)
    return cudaError_t(
        refuse(("__cluster_dims__ of kernel " + info.name).c_str(), "thread block clusters"));
  if (!has_registers_for(function, int(threads))) return cudaErrorLaunchOutOfResources;
  const bool too_much_shared = request.dynamic_shared > size_t(dynamic_shared_limit(function));
  if (!request.cooperative) return too_much_shared ? cudaErrorInvalidValue : cudaSuccess;
  if (too_much_shared) return cudaErrorCooperativeLaunchTooLarge;  // not one block fits
  const uint64_t resident = uint64_t(blocks_per_sm(function, int(threads), request.dynamic_shared));
  const uint64_t blocks = uint64_t(request.grid.x) * request.grid.y * request.grid.z;
  return blocks > resident * uint64_t(runtime().gpu().sm_count) ? cudaErrorCooperativeLaunchTooLarge
                                                                : cudaSuccess;
}

}  // namespace

cudaError_t prepare(const LaunchRequest& request, Launch* launch) {
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
  launch->cooperative = request.cooperative;
  return cudaSuccess;
}

void run(const Launch& launch) {
  if (sticky_error()) return;
  record_fault(runtime().engine.run(launch));
}

cudaError_t launch(const LaunchRequest& request) {
  const StreamRef stream = find_stream(request.stream);
  if (!stream) return cudaErrorInvalidResourceHandle;
  KernelWork work{.function = request.function, .launch = {}, .hints = request.hints};
  if (const cudaError_t error = prepare(request, &work.launch)) {
    (void)refuse_in_capture(stream);  // a launch that fails ends the capture it was meant for
    return error;
  }
  if (const cudaError_t error = enqueue(stream, std::move(work))) return error;
  for (const auto& [event, flags] : request.events)
    if (const cudaError_t error = record_event(event, request.stream, flags)) return error;
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
