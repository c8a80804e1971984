// Between the driver's node parameter structs and the work a node does.
#pragma once

#include "vm/cudart/graph/graph.h"
#include "vm/driver/api.h"
#include "vm/driver/result.h"

namespace ridge::vm::driver {

cudaError_t work_of(const CUDA_KERNEL_NODE_PARAMS_v1* params, cudart::Work* work);
cudaError_t work_of(const CUDA_KERNEL_NODE_PARAMS_v2* params, cudart::Work* work);
cudaError_t work_of(const CUDA_MEMCPY3D* params, cudart::Work* work);
cudaError_t work_of(const CUDA_MEMSET_NODE_PARAMS* params, cudart::Work* work);
cudaError_t work_of(const CUDA_HOST_NODE_PARAMS* params, cudart::Work* work);
cudaError_t work_of(const CUgraphNodeParams* params, cudart::Work* work);  // any kind

// The pointers handed out stay valid until the node changes.
cudaError_t params_of(cudart::GraphNode& node, CUDA_KERNEL_NODE_PARAMS_v1* params);
cudaError_t params_of(cudart::GraphNode& node, CUDA_KERNEL_NODE_PARAMS_v2* params);
cudaError_t params_of(cudart::GraphNode& node, CUDA_MEMCPY3D* params);
cudaError_t params_of(cudart::GraphNode& node, CUDA_MEMSET_NODE_PARAMS* params);
cudaError_t params_of(cudart::GraphNode& node, CUDA_HOST_NODE_PARAMS* params);

}  // namespace ridge::vm::driver
