// Between the runtime's node parameter structs and the work a node does.
#pragma once

#include "vm/cudart/api.h"
#include "vm/cudart/graph/graph.h"
#include "vm/cudart/work.h"

namespace ridge::vm::cudart {

cudaError_t work_of(const cudaKernelNodeParams* params, Work* work);
cudaError_t work_of(const cudaMemcpy3DParms* params, Work* work);
cudaError_t work_of(const cudaMemsetParams* params, Work* work);
cudaError_t work_of(const cudaHostNodeParams* params, Work* work);
cudaError_t work_of(const cudaGraphNodeParams* params, Work* work);  // any kind
cudaError_t flat_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Work* work);
cudaError_t symbol_copy(const void* symbol, void* other, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, bool out, Work* work);
cudaError_t event_record(cudaEvent_t event, Work* work);
cudaError_t event_wait(cudaEvent_t event, Work* work);
cudaError_t child_graph(cudaGraph_t graph, Work* work);  // clones it
cudaError_t moved_graph(cudaGraph_t graph, Work* work);  // takes it away from the program

// The pointers handed out stay valid until the node changes.
cudaError_t params_of(GraphNode& node, cudaKernelNodeParams* params);
cudaError_t params_of(const GraphNode& node, cudaMemcpy3DParms* params);
cudaError_t params_of(const GraphNode& node, cudaMemsetParams* params);
cudaError_t params_of(const GraphNode& node, cudaHostNodeParams* params);

}  // namespace ridge::vm::cudart
