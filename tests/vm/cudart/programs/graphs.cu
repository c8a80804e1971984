// A captured graph with a fork and a join, replayed; and the same work as a graph made by hand.
#include "check.h"

__global__ void add(int* data, int by) { data[threadIdx.x] += by; }
__global__ void multiply(int* data, int by) { data[threadIdx.x] *= by; }

int main() {
  constexpr int n = 32;
  int *a, *b, host_a[n] = {}, host_b[n] = {};
  RIDGE_CUDA(cudaMalloc(&a, sizeof host_a), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&b, sizeof host_b), cudaSuccess);
  cudaStream_t s, t;
  cudaEvent_t fork, join;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  RIDGE_CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaMemsetAsync(a, 0, sizeof host_a, s);
  cudaEventRecord(fork, s);
  cudaStreamWaitEvent(t, fork);
  cudaMemsetAsync(b, 0, sizeof host_b, t);
  add<<<1, n, 0, t>>>(b, 2);
  add<<<1, n, 0, s>>>(a, 3);
  cudaEventRecord(join, t);
  cudaStreamWaitEvent(s, join);
  multiply<<<1, n, 0, s>>>(a, 5);
  cudaMemcpyAsync(host_a, a, sizeof host_a, cudaMemcpyDeviceToHost, s);
  cudaMemcpyAsync(host_b, b, sizeof host_b, cudaMemcpyDeviceToHost, s);
  RIDGE_CUDA(cudaStreamEndCapture(s, &graph), cudaSuccess);
  RIDGE_CHECK(host_a[0] == 0);
  size_t nodes = 0;
  RIDGE_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  RIDGE_CHECK(nodes == 7);
  RIDGE_CUDA(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int round = 0; round < 3; ++round) {
    host_a[n - 1] = host_b[n - 1] = 0;
    RIDGE_CUDA(cudaGraphLaunch(exec, s), cudaSuccess);
    RIDGE_CUDA(cudaStreamSynchronize(s), cudaSuccess);
    RIDGE_CHECK(host_a[n - 1] == 15);
    RIDGE_CHECK(host_b[n - 1] == 2);
  }
  RIDGE_CUDA(cudaGraphExecDestroy(exec), cudaSuccess);
  RIDGE_CUDA(cudaGraphDestroy(graph), cudaSuccess);

  int by = 4;
  void* arguments[] = {&a, &by};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(n);
  kernel.kernelParams = arguments;
  cudaMemsetParams fill{};
  fill.dst = a;
  fill.value = 1;
  fill.elementSize = 4;
  fill.width = n;
  fill.height = 1;
  cudaGraphNode_t fill_node, kernel_node, copy_node;
  RIDGE_CUDA(cudaGraphCreate(&graph, 0), cudaSuccess);
  RIDGE_CUDA(cudaGraphAddMemsetNode(&fill_node, graph, nullptr, 0, &fill), cudaSuccess);
  RIDGE_CUDA(cudaGraphAddKernelNode(&kernel_node, graph, &fill_node, 1, &kernel), cudaSuccess);
  RIDGE_CUDA(cudaGraphAddMemcpyNode1D(&copy_node, graph, &kernel_node, 1, host_a, a, sizeof host_a,
                                      cudaMemcpyDeviceToHost),
             cudaSuccess);
  RIDGE_CUDA(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  RIDGE_CUDA(cudaGraphLaunch(exec, s), cudaSuccess);
  RIDGE_CUDA(cudaStreamSynchronize(s), cudaSuccess);
  RIDGE_CHECK(host_a[0] == 5);
  by = 40;
  RIDGE_CUDA(cudaGraphExecKernelNodeSetParams(exec, kernel_node, &kernel), cudaSuccess);
  RIDGE_CUDA(cudaGraphLaunch(exec, s), cudaSuccess);
  RIDGE_CUDA(cudaStreamSynchronize(s), cudaSuccess);
  RIDGE_CHECK(host_a[0] == 41);
  return failures != 0;
}
