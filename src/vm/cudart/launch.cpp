#include "vm/cudart/launch.h"

#include <cstring>

#include "vm/cudart/errors.h"
#include "vm/cudart/occupancy.h"
#include "vm/cudart/report.h"
#include "vm/cudart/runtime.h"
#include "vm/cudart/streams.h"

namespace ridge::vm::cudart {
namespace {

constexpr uint32_t kMaxGridX = 2147483647, kMaxGridYZ = 65535, kMaxBlockXY = 1024, kMaxBlockZ = 64;
constexpr size_t kDefaultShared = 48 * 1024;

bool fits(const dim3& d, uint32_t x, uint32_t y, uint32_t z) {
  return d.x >= 1 && d.y >= 1 && d.z >= 1 && d.x <= x && d.y <= y && d.z <= z;
}

std::vector<uint8_t> pack(const KernelInfo& info, void** arguments) {
  std::vector<uint8_t> bytes(info.param_bytes);
  for (size_t i = 0; i < info.params.size(); ++i)
    std::memcpy(bytes.data() + info.params[i].offset, arguments[i], info.params[i].size);
  return bytes;
}

cudaError_t check(const LaunchRequest& request, const Function& function, const KernelInfo& info,
                  const KernelUsage& usage) {
  const dim3& block = request.block;
  if (!fits(request.grid, kMaxGridX, kMaxGridYZ, kMaxGridYZ)) return cudaErrorInvalidConfiguration;
  if (!fits(block, kMaxBlockXY, kMaxBlockXY, kMaxBlockZ)) return cudaErrorInvalidConfiguration;
  const uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (threads > kMaxBlockXY) return cudaErrorInvalidConfiguration;
  if (threads > info.max_threads) return cudaErrorLaunchOutOfResources;
  const uint32_t* required = info.required_threads;
  if (required[0] && (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return cudaErrorInvalidValue;
  if (request.dynamic_shared > dynamic_shared_limit(function, usage)) return cudaErrorInvalidValue;
  if (!request.cooperative) return cudaSuccess;
  const int resident = blocks_per_sm(runtime().gpu(), usage, int(threads), request.dynamic_shared);
  const uint64_t blocks = uint64_t(request.grid.x) * request.grid.y * request.grid.z;
  return blocks > uint64_t(resident) * runtime().gpu().sm_count ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

}  // namespace

size_t dynamic_shared_limit(const Function& function, const KernelUsage& usage) {
  if (function.max_dynamic_shared >= 0) return size_t(function.max_dynamic_shared);
  return usage.static_shared < kDefaultShared ? kDefaultShared - usage.static_shared : 0;
}

cudaError_t prepare(const LaunchRequest& request, Launch* launch) {
  Runtime& rt = runtime();
  Function* function = registrations().find_function(request.function);
  if (!function) return cudaErrorInvalidDeviceFunction;
  Kernel* kernel = nullptr;
  if (const cudaError_t error = registrations().resolve(function, &kernel)) return error;
  const auto usage = rt.engine.usage(kernel);
  if (!usage) {
    report_once(function->name, usage.error().message);
    return usage.error().code > 1 ? cudaError_t(usage.error().code) : cudaErrorInvalidPtx;
  }
  const KernelInfo& info = rt.engine.info(kernel);
  if (const cudaError_t error = check(request, *function, info, *usage)) return error;
  if (!info.params.empty() && !request.arguments) return cudaErrorInvalidValue;
  launch->kernel = kernel;
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
  Launch launch;
  if (const cudaError_t error = prepare(request, &launch)) return error;
  runtime().scheduler.submit(stream, [launch = std::move(launch)] { run(launch); });
  return cudaSuccess;
}

}  // namespace ridge::vm::cudart
