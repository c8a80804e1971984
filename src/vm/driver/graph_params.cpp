#include "vm/driver/graph_params.h"

#include "vm/cudart/graph/params.h"
#include "vm/cudart/runtime.h"
#include "vm/driver/arguments.h"
#include "vm/driver/contexts.h"
#include "vm/driver/copy_plan.h"

namespace ridge::vm::driver {
namespace {

// Their fields are the same in the same order.
static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(cudaHostNodeParams));
static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(cudaMemsetParams));

template <class Params>
cudaError_t kernel_work(const Params* p, const void* function, cudart::Work* work) {
  Arguments arguments;
  if (const cudaError_t error = arguments.read(function, p->kernelParams, p->extra)) return error;
  const cudaKernelNodeParams same{const_cast<void*>(function),
                                  {p->gridDimX, p->gridDimY, p->gridDimZ},
                                  {p->blockDimX, p->blockDimY, p->blockDimZ},
                                  p->sharedMemBytes,
                                  arguments.pointers(),
                                  nullptr};
  return cudart::work_of(&same, work);
}

}  // namespace

cudaError_t work_of(const CUDA_KERNEL_NODE_PARAMS_v1* p, cudart::Work* work) {
  return p ? kernel_work(p, p->func, work) : cudaErrorInvalidValue;
}

// `func`, or `kern` where that is null.
cudaError_t work_of(const CUDA_KERNEL_NODE_PARAMS_v2* p, cudart::Work* work) {
  if (!p) return cudaErrorInvalidValue;
  return kernel_work(p, p->func ? static_cast<const void*>(p->func) : p->kern, work);
}

cudaError_t work_of(const CUDA_MEMCPY3D* p, cudart::Work* work) {
  cudart::CopyPlan plan;
  if (const cudaError_t error = plan_of(p, &plan)) return error;
  if (const cudaError_t error = check(plan)) return error;
  *work = plan;
  return cudaSuccess;
}

cudaError_t work_of(const CUDA_MEMSET_NODE_PARAMS* p, cudart::Work* work) {
  return cudart::work_of(reinterpret_cast<const cudaMemsetParams*>(p), work);
}

cudaError_t work_of(const CUDA_HOST_NODE_PARAMS* p, cudart::Work* work) {
  return cudart::work_of(reinterpret_cast<const cudaHostNodeParams*>(p), work);
}

cudaError_t work_of(const CUgraphNodeParams* p, cudart::Work* work) {
  if (!p) return cudaErrorInvalidValue;
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const auto& k = p->kernel;
      return kernel_work(&k, k.func ? static_cast<const void*>(k.func) : k.kern, work);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: return work_of(&p->memcpy.copyParams, work);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto& m = p->memset;
      const CUDA_MEMSET_NODE_PARAMS same{m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
      return work_of(&same, work);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS same{p->host.fn, p->host.userData};
      return work_of(&same, work);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
                 ? cudart::moved_graph(p->graph.graph, work)
                 : cudart::child_graph(p->graph.graph, work);
    case CU_GRAPH_NODE_TYPE_EMPTY: *work = cudart::EmptyWork{}; return cudaSuccess;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cudart::event_record(p->eventRecord.event, work);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cudart::event_wait(p->eventWait.event, work);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:  // added by functions of their own, and never changed
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return cudaErrorInvalidValue;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return refuse_call("a memory operation node of a graph", "memory operation nodes of graphs");
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return refuse_call("an external semaphore node of a graph", "external memory and semaphores");
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t params_of(cudart::GraphNode& node, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  cudaKernelNodeParams k;
  if (!p) return cudaErrorInvalidValue;
  if (const cudaError_t error = cudart::params_of(node, &k)) return error;
  const auto* found = cudart::registrations().find_function(k.func);  // a host stub, perhaps
  *p = {reinterpret_cast<CUfunction>(const_cast<cudart::KernelHandle*>(found)),
        k.gridDim.x,
        k.gridDim.y,
        k.gridDim.z,
        k.blockDim.x,
        k.blockDim.y,
        k.blockDim.z,
        k.sharedMemBytes,
        k.kernelParams,
        nullptr};
  return cudaSuccess;
}

cudaError_t params_of(cudart::GraphNode& node, CUDA_KERNEL_NODE_PARAMS_v2* p) {
  CUDA_KERNEL_NODE_PARAMS_v1 k;
  if (!p) return cudaErrorInvalidValue;
  if (const cudaError_t error = params_of(node, &k)) return error;
  *p = {k.func,      k.gridDimX,       k.gridDimY,     k.gridDimZ, k.blockDimX, k.blockDimY,
        k.blockDimZ, k.sharedMemBytes, k.kernelParams, nullptr,    nullptr,     top_context()};
  return cudaSuccess;
}

cudaError_t params_of(cudart::GraphNode& node, CUDA_MEMCPY3D* p) {
  const auto* plan = std::get_if<cudart::CopyPlan>(&node.work);
  if (!plan || !p) return cudaErrorInvalidValue;
  *p = copy_of(*plan);
  return cudaSuccess;
}

cudaError_t params_of(cudart::GraphNode& node, CUDA_MEMSET_NODE_PARAMS* p) {
  return cudart::params_of(node, reinterpret_cast<cudaMemsetParams*>(p));
}

cudaError_t params_of(cudart::GraphNode& node, CUDA_HOST_NODE_PARAMS* p) {
  return cudart::params_of(node, reinterpret_cast<cudaHostNodeParams*>(p));
}

}  // namespace ridge::vm::driver
