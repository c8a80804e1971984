// What a function puts on a stream, without doing it: captured into a graph, as lines of text.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ridge/status.h"

namespace ridge {

struct Captured {
  Status status;
  std::vector<std::string> nodes;  // "kernel grid=(…) block=(…) shared=…", in the order of creation
};

inline std::string text_of(dim3 size) {
  return "(" + std::to_string(size.x) + "," + std::to_string(size.y) + "," +
         std::to_string(size.z) + ")";
}

inline void describe_nodes(cudaGraph_t graph, std::vector<std::string>& out);

inline void describe_node(cudaGraphNode_t node, std::vector<std::string>& out) {
  cudaGraphNodeType type = cudaGraphNodeTypeCount;
  ASSERT_EQ(cudaGraphNodeGetType(node, &type), cudaSuccess);
  if (type == cudaGraphNodeTypeGraph) {  // a graph that was launched
    cudaGraph_t child = nullptr;
    ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(node, &child), cudaSuccess);
    out.push_back("graph of");
    describe_nodes(child, out);
    return;
  }
  if (type != cudaGraphNodeTypeKernel) {
    out.push_back("node of type " + std::to_string(int(type)));
    return;
  }
  cudaKernelNodeParams kernel = {};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(node, &kernel), cudaSuccess);
  const char* name = nullptr;
  ASSERT_EQ(cudaFuncGetName(&name, kernel.func), cudaSuccess);
  out.push_back(std::string(name) + " grid=" + text_of(kernel.gridDim) + " block=" +
                text_of(kernel.blockDim) + " shared=" + std::to_string(kernel.sharedMemBytes));
}

inline void describe_nodes(cudaGraph_t graph, std::vector<std::string>& out) {
  size_t count = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  std::vector<cudaGraphNode_t> nodes(count);
  ASSERT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
  for (cudaGraphNode_t node : nodes) describe_node(node, out);
}

// `enqueue` is a function of a stream that returns a Status.
template <class F>
Captured captured(cudaStream_t stream, F enqueue) {
  Captured result;
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  result.status = enqueue(stream);
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  if (result.status && ended != cudaSuccess)
    result.status =
        Error{int(ended), std::string("it cannot be captured: ") + cudaGetErrorString(ended)};
  if (graph && result.status) describe_nodes(graph, result.nodes);
  if (graph) (void)cudaGraphDestroy(graph);
  (void)cudaGetLastError();
  return result;
}

}  // namespace ridge
