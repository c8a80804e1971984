// Conditional nodes of a graph, decided by kernels: a loop with a switch and an if inside.
#include "check.h"

__global__ void count_down(cudaGraphConditionalHandle loop, cudaGraphConditionalHandle choice,
                           cudaGraphConditionalHandle last, int* left) {
  if (threadIdx.x != 0) return;
  *left -= 1;
  cudaGraphSetConditional(loop, *left > 0);
  cudaGraphSetConditional(choice, *left % 4);  // 3 is no body
  cudaGraphSetConditional(last, *left == 0);
}
__global__ void add(int* to, int by) { *to += by; }

template <class... A>
cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, const void* kernel, A... a) {
  void* arguments[] = {&a...};
  cudaKernelNodeParams params = {};
  params.func = const_cast<void*>(kernel);
  params.gridDim = dim3(1);
  params.blockDim = dim3(32);
  params.kernelParams = arguments;
  if (kernel == reinterpret_cast<const void*>(&add)) params.blockDim = dim3(1);
  cudaGraphNode_t node = nullptr;
  RIDGE_CUDA(cudaGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &params), cudaSuccess);
  return node;
}

cudaGraph_t* add_conditional(cudaGraph_t graph, cudaGraphNode_t after,
                             cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                             unsigned size) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  RIDGE_CUDA(cudaGraphAddNode(&node, graph, &after, nullptr, after ? 1 : 0, &params), cudaSuccess);
  return params.conditional.phGraph_out;
}

int main() {
  int* counts = nullptr;  // what is left, what the bodies of the switch did, then and else
  int host[6] = {};
  RIDGE_CUDA(cudaMalloc(&counts, sizeof host), cudaSuccess);
  cudaGraph_t graph;
  cudaGraphConditionalHandle loop, choice, last;
  RIDGE_CUDA(cudaGraphCreate(&graph, 0), cudaSuccess);
  RIDGE_CUDA(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault),
             cudaSuccess);
  RIDGE_CUDA(cudaGraphConditionalHandleCreate(&choice, graph, 0, 0), cudaSuccess);
  RIDGE_CUDA(cudaGraphConditionalHandleCreate(&last, graph, 0, 0), cudaSuccess);
  const cudaGraph_t body = *add_conditional(graph, nullptr, loop, cudaGraphCondTypeWhile, 1);
  const cudaGraphNode_t first =
      add_kernel(body, nullptr, (const void*)&count_down, loop, choice, last, counts);
  cudaGraph_t* cases = add_conditional(body, first, choice, cudaGraphCondTypeSwitch, 3);
  for (int i = 0; i < 3; ++i) add_kernel(cases[i], nullptr, (const void*)&add, counts + 1 + i, 1);
  cudaGraph_t* branches = add_conditional(body, first, last, cudaGraphCondTypeIf, 2);
  for (int i = 0; i < 2; ++i)
    add_kernel(branches[i], nullptr, (const void*)&add, counts + 4 + i, 1);

  cudaGraphExec_t exec;
  RIDGE_CUDA(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  RIDGE_CUDA(cudaGraphDestroy(graph), cudaSuccess);  // the executable graph lives on
  for (int round = 0; round < 2; ++round) {
    host[0] = 9;
    for (int i = 1; i < 6; ++i) host[i] = 0;
    RIDGE_CUDA(cudaMemcpy(counts, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
    RIDGE_CUDA(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    RIDGE_CUDA(cudaMemcpy(host, counts, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    RIDGE_CHECK(host[0] == 0);
    RIDGE_CHECK(host[1] == 3 && host[2] == 2 && host[3] == 2);  // of 8 … 0: 8 4 0, 5 1, 6 2
    RIDGE_CHECK(host[4] == 1 && host[5] == 8);
  }
  RIDGE_CUDA(cudaGraphExecDestroy(exec), cudaSuccess);
  return failures;
}
