// Memory nodes of graphs, user objects, and attributes of kernel nodes.
#include "vm/driver/result.h"

using namespace ridge::vm::driver;

namespace {

// Their fields are the same in the same order.
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(cudaMemAllocNodeParams));
static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue));

}  // namespace

extern "C" {

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return context_call([&] {
    return cudaGraphAddMemAllocNode(node, graph, after, count,
                                    reinterpret_cast<cudaMemAllocNodeParams*>(params));
  });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return driver_call([&] {
    return cudaGraphMemAllocNodeGetParams(node, reinterpret_cast<cudaMemAllocNodeParams*>(params));
  });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                               size_t count, CUdeviceptr address) {
  return context_call([&] {
    return cudaGraphAddMemFreeNode(node, graph, after, count, reinterpret_cast<void*>(address));
  });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return driver_call([&] { return cudaGraphMemFreeNodeGetParams(node, address); });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return driver_call([&] {
    return cudaDeviceGetGraphMemAttribute(device, cudaGraphMemAttributeType(attribute), value);
  });
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void* value) {
  return driver_call([&] {
    return cudaDeviceSetGraphMemAttribute(device, cudaGraphMemAttributeType(attribute), value);
  });
}
CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return driver_call([&] { return cudaDeviceGraphMemTrim(device); });
}

CUresult cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn destroy, unsigned count,
                            unsigned flags) {
  return driver_call([&] { return cudaUserObjectCreate(object, data, destroy, count, flags); });
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return driver_call([&] { return cudaUserObjectRetain(object, count); });
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return driver_call([&] { return cudaUserObjectRelease(object, count); });
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                 unsigned flags) {
  return driver_call([&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return driver_call([&] { return cudaGraphReleaseUserObject(graph, object, count); });
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue* value) {
  return driver_call([&] {
    return cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeID(id),
                                           reinterpret_cast<cudaLaunchAttributeValue*>(value));
  });
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue* value) {
  return driver_call([&] {
    return cudaGraphKernelNodeSetAttribute(
        node, cudaLaunchAttributeID(id), reinterpret_cast<const cudaLaunchAttributeValue*>(value));
  });
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return driver_call([&] { return cudaGraphKernelNodeCopyAttributes(to, from); });
}

}  // extern "C"
