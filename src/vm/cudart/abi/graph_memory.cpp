// Memory nodes of graphs, and user objects.
#include "vm/cudart/graph/memory.h"

#include "vm/cudart/errors.h"
#include "vm/cudart/graph/edit.h"
#include "vm/cudart/graph/graph.h"

using namespace ridge::vm::cudart;

namespace {

cudaError_t check_properties(const cudaMemAllocNodeParams& p) {
  if (p.poolProps.allocType != cudaMemAllocationTypePinned ||
      p.poolProps.location.type != cudaMemLocationTypeDevice ||
      p.poolProps.handleTypes != cudaMemHandleTypeNone || (p.accessDescCount && !p.accessDescs))
    return cudaErrorInvalidValue;
  return p.poolProps.location.id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

template <class Body>
cudaError_t with_graph(cudaGraph_t handle, Body&& body) {
  return api([&] {
    const GraphRef graph = find_graph(handle);
    return graph ? body(*graph) : cudaErrorInvalidValue;
  });
}

cudaError_t check_device(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

}  // namespace

extern "C" {

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* params) {
  return add_node(node, graph, after, count, [&](Work* work) {
    GraphMemoryRef memory;
    if (!params) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_properties(*params)) return error;
    if (const cudaError_t error = make_graph_memory(params->bytesize, &memory)) return error;
    params->dptr = memory->pointer();
    *work = AllocWork{std::move(memory)};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t handle, cudaMemAllocNodeParams* params) {
  return api([&] {
    const GraphNode* node = find_node(handle);
    const auto* work = node ? std::get_if<AllocWork>(&node->work) : nullptr;
    if (!work || !params) return cudaErrorInvalidValue;
    *params = {};
    params->poolProps.allocType = cudaMemAllocationTypePinned;
    params->poolProps.location.type = cudaMemLocationTypeDevice;
    params->bytesize = work->memory->size;
    params->dptr = work->memory->pointer();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* pointer) {
  return add_node(node, graph, after, count, [&](Work* work) {
    GraphMemoryRef memory = find_graph_memory(pointer);
    if (const cudaError_t error = check_free_node(*find_graph(graph), memory)) return error;
    *work = FreeWork{std::move(memory)};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t handle, void* pointer) {
  return api([&] {
    const GraphNode* node = find_node(handle);
    const auto* work = node ? std::get_if<FreeWork>(&node->work) : nullptr;
    if (!work || !pointer) return cudaErrorInvalidValue;
    *static_cast<void**>(pointer) = work->memory->pointer();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return api([&] {
    if (const cudaError_t error = check_device(device)) return error;
    return value ? graph_memory_attribute(attribute, static_cast<uint64_t*>(value))
                 : cudaErrorInvalidValue;
  });
}

// A high mark can only be reset.
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return api([&] {
    if (const cudaError_t error = check_device(device)) return error;
    if (!value || *static_cast<const uint64_t*>(value)) return cudaErrorInvalidValue;
    return reset_graph_memory_mark(attribute);
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return api([&] {
    if (const cudaError_t error = check_device(device)) return error;
    trim_graph_memory();
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* data, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags) {
  return api([&] {
    if (flags != cudaUserObjectNoDestructorSync) return cudaErrorInvalidValue;
    return create_user_object(object, data, destroy, count);
  });
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return api([&] { return retain_user_object(object, count); });
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return api([&] { return release_user_object(object, count); });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return with_graph(graph, [&](Graph& g) {
    if (flags & ~unsigned(cudaGraphUserObjectMove)) return cudaErrorInvalidValue;
    return graph_retain(g, object, count, flags == cudaGraphUserObjectMove);
  });
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return with_graph(graph, [&](Graph& g) { return graph_release(g, object, count); });
}

}  // extern "C"
