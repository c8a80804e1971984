#include "vm/cudart/launch_attributes.h"

#include <algorithm>
#include <string>

#include "vm/cudart/device.h"
#include "vm/cudart/events.h"
#include "vm/cudart/function.h"
#include "vm/cudart/refuse.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {
namespace {

using Value = cudaLaunchAttributeValue;

enum class Effect : uint8_t {
  unknown,
  none,
  hint,
  cooperative,
  cluster,
  early,    // begins when the kernel before it lets it
  event,    // recorded behind the kernel
  refused,  // by name
};
struct Row {
  cudaLaunchAttributeID id;
  Effect effect;
  bool of_nodes;  // graph nodes have it, too
  const char* name;
};
constexpr Row kRows[] = {
    {cudaLaunchAttributeIgnore, Effect::none, false, "ignore"},
    {cudaLaunchAttributeAccessPolicyWindow, Effect::hint, true, "access policy window"},
    {cudaLaunchAttributeCooperative, Effect::cooperative, true, "cooperative"},
    {cudaLaunchAttributeClusterDimension, Effect::cluster, true, "cluster dimension"},
    {cudaLaunchAttributeClusterSchedulingPolicyPreference, Effect::hint, true,
     "cluster scheduling policy"},
    {cudaLaunchAttributeProgrammaticStreamSerialization, Effect::early, false,
     "programmatic stream serialization"},
    {cudaLaunchAttributeProgrammaticEvent, Effect::event, false, "programmatic event"},
    // Kernels of one process share all cores.
    {cudaLaunchAttributePriority, Effect::hint, true, "priority"},
    {cudaLaunchAttributeMemSyncDomainMap, Effect::hint, true, "memory sync domain map"},
    {cudaLaunchAttributeMemSyncDomain, Effect::hint, true, "memory sync domain"},
    // Larger clusters than those asked for, where there is room; the smaller ones are allowed.
    {cudaLaunchAttributePreferredClusterDimension, Effect::hint, false,
     "preferred cluster dimension"},
    {cudaLaunchAttributeLaunchCompletionEvent, Effect::event, false, "launch completion event"},
    {cudaLaunchAttributeDeviceUpdatableKernelNode, Effect::refused, true,
     "device-updatable kernel node"},
    {cudaLaunchAttributePreferredSharedMemoryCarveout, Effect::hint, true,
     "preferred shared memory carveout"},
    {cudaLaunchAttributeNvlinkUtilCentricScheduling, Effect::hint, false,
     "scheduling for the use of NVLink"},
};

const Row& row_of(cudaLaunchAttributeID id) {
  static constexpr Row kUnknown{cudaLaunchAttributeIgnore, Effect::unknown, false, ""};
  const auto* found = std::ranges::find(kRows, id, &Row::id);
  return found == std::end(kRows) ? kUnknown : *found;
}

cudaError_t check_hint(cudaLaunchAttributeID id, const Value& v) {
  const auto fine = [](bool is) { return is ? cudaSuccess : cudaErrorInvalidValue; };
  switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow: {
      const auto most = device_attribute(runtime().gpu(), cudaDevAttrMaxAccessPolicyWindowSize);
      const cudaAccessPolicyWindow& w = v.accessPolicyWindow;
      return fine(w.hitRatio >= 0 && w.hitRatio <= 1 && w.num_bytes <= size_t(*most));
    }
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      return fine(v.clusterSchedulingPolicyPreference <= cudaClusterSchedulingPolicyLoadBalancing);
    case cudaLaunchAttributeMemSyncDomain:
      return fine(v.memSyncDomain <= cudaLaunchMemSyncDomainRemote);
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      return fine(int(v.sharedMemCarveout) >= -1 && int(v.sharedMemCarveout) <= 100);
    default: return cudaSuccess;
  }
}

// Both kinds of event may come as late as the kernel's end, and do for all but kernels that wait
// for a programmatic one.
cudaError_t add_event(cudaEvent_t event, int flags, bool programmatic, LaunchRequest& request) {
  const EventRef found = find_event(event);
  if (!found) return cudaErrorInvalidResourceHandle;
  if (!(found->flags & cudaEventDisableTiming)) return cudaErrorNotSupported;
  request.events.push_back({event, unsigned(flags), programmatic});
  return cudaSuccess;
}

void keep(std::vector<cudaLaunchAttribute>& hints, cudaLaunchAttributeID id, const Value& value) {
  const auto found = std::ranges::find(hints, id, &cudaLaunchAttribute::id);
  if (found != hints.end()) {
    found->val = value;
    return;
  }
  cudaLaunchAttribute kept{};
  kept.id = id;
  kept.val = value;
  hints.push_back(kept);
}

cudaError_t refused(const Row& row) {
  return cudaError_t(
      refuse((std::string("launch attribute ") + row.name).c_str(), "launch attributes"));
}

}  // namespace

cudaError_t apply(const cudaLaunchAttribute& attribute, LaunchRequest& request) {
  const Row& row = row_of(attribute.id);
  const Value& v = attribute.val;
  switch (row.effect) {
    case Effect::none: return cudaSuccess;
    case Effect::hint:
      if (const cudaError_t error = check_hint(attribute.id, v)) return error;
      if (row.of_nodes) keep(request.hints, attribute.id, v);
      return cudaSuccess;
    case Effect::cooperative: request.cooperative = v.cooperative != 0; return cudaSuccess;
    case Effect::cluster:
      request.cluster = dim3(v.clusterDim.x, v.clusterDim.y, v.clusterDim.z);
      return cudaSuccess;
    case Effect::early:
      request.early = v.programmaticStreamSerializationAllowed != 0;
      return cudaSuccess;
    case Effect::event:
      return attribute.id == cudaLaunchAttributeProgrammaticEvent
                 ? add_event(v.programmaticEvent.event, v.programmaticEvent.flags, true, request)
                 : add_event(v.launchCompletionEvent.event, v.launchCompletionEvent.flags, false,
                             request);
    case Effect::refused: return refused(row);
    case Effect::unknown: break;
  }
  return cudaErrorInvalidValue;
}

static cudaError_t set_cluster(KernelWork& work, const Value& value) {
  ResolvedFunction function;
  if (const cudaError_t error = resolve_function(work.function, &function)) return error;
  const Dim3& grid = work.launch.grid;
  const dim3 asked(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
  const ClusterShape cluster = cluster_shape(function, asked, dim3(grid.x, grid.y, grid.z));
  if (cluster.error) return cluster.error;
  work.launch.cluster = {asked.x, asked.y, asked.z};
  work.launch.explicit_cluster = true;
  return cudaSuccess;
}

cudaError_t set_node_attribute(KernelWork& work, cudaLaunchAttributeID id, const Value& value) {
  const Row& row = row_of(id);
  if (!row.of_nodes) return cudaErrorInvalidValue;
  switch (row.effect) {
    case Effect::cooperative: work.launch.cooperative = value.cooperative != 0; return cudaSuccess;
    case Effect::refused: return refused(row);
    case Effect::cluster: return set_cluster(work, value);
    default:
      if (const cudaError_t error = check_hint(id, value)) return error;
  }
  keep(work.hints, id, value);
  return cudaSuccess;
}

cudaError_t node_attribute(const KernelWork& work, cudaLaunchAttributeID id, Value* value) {
  if (!value || !row_of(id).of_nodes) return cudaErrorInvalidValue;
  *value = {};
  const auto found = std::ranges::find(work.hints, id, &cudaLaunchAttribute::id);
  if (found != work.hints.end()) *value = found->val;
  else if (id == cudaLaunchAttributeCooperative) value->cooperative = work.launch.cooperative;
  else if (id == cudaLaunchAttributeClusterDimension && work.launch.explicit_cluster)
    value->clusterDim = {work.launch.cluster.x, work.launch.cluster.y, work.launch.cluster.z};
  else if (id == cudaLaunchAttributeMemSyncDomainMap) value->memSyncDomainMap = {0, 1};
  return cudaSuccess;
}

void copy_node_attributes(KernelWork& to, const KernelWork& from) {
  to.hints = from.hints;
  to.launch.cooperative = from.launch.cooperative;
  to.launch.cluster = from.launch.cluster;
  to.launch.explicit_cluster = from.launch.explicit_cluster;
}

}  // namespace ridge::vm::cudart
