// Memory that belongs to graphs: captured, made by hand, left for the program to free.
#include "check.h"

__global__ void square(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}
__global__ void sum(const int* in, int* out) {
  int total = 0;
  for (int i = 0; i < 32; ++i) total += in[i];
  *out = total;
}

int main() {
  constexpr int n = 32;
  int host[n], result = 0, *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaStream_t s;
  cudaStreamCreate(&s);
  RIDGE_CUDA(cudaMalloc(&in, sizeof host), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&out, sizeof(int)), cudaSuccess);
  RIDGE_CUDA(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);

  // Scratch memory of a captured graph.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int* scratch = nullptr;
  RIDGE_CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
  RIDGE_CUDA(cudaMallocAsync(&scratch, sizeof host, s), cudaSuccess);
  square<<<1, n, 0, s>>>(in, scratch);
  sum<<<1, 1, 0, s>>>(scratch, out);
  RIDGE_CUDA(cudaFreeAsync(scratch, s), cudaSuccess);
  RIDGE_CUDA(cudaStreamEndCapture(s, &graph), cudaSuccess);
  RIDGE_CUDA(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int round = 0; round < 3; ++round) {
    RIDGE_CUDA(cudaMemset(out, 0, sizeof(int)), cudaSuccess);
    RIDGE_CUDA(cudaGraphLaunch(exec, s), cudaSuccess);
    RIDGE_CUDA(cudaStreamSynchronize(s), cudaSuccess);
    RIDGE_CUDA(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
    RIDGE_CHECK(result == 10416);
  }
  // The device keeps memory for the graph's next launch, in pieces of 32 MiB.
  size_t used = 1;
  RIDGE_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used), cudaSuccess);
  RIDGE_CHECK(used > 0 && used % (32 << 20) == 0);

  // Memory that a graph leaves behind.
  cudaGraph_t made;
  cudaGraphNode_t alloc, fill;
  RIDGE_CUDA(cudaGraphCreate(&made, 0), cudaSuccess);
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = sizeof host;
  RIDGE_CUDA(cudaGraphAddMemAllocNode(&alloc, made, nullptr, 0, &memory), cudaSuccess);
  int* kept = static_cast<int*>(memory.dptr);
  void* arguments[] = {&in, &kept};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(square);
  kernel.gridDim = 1;
  kernel.blockDim = n;
  kernel.kernelParams = arguments;
  RIDGE_CUDA(cudaGraphAddKernelNode(&fill, made, &alloc, 1, &kernel), cudaSuccess);
  RIDGE_CUDA(cudaGraphInstantiate(&exec, made, 0), cudaSuccess);
  RIDGE_CUDA(cudaGraphLaunch(exec, s), cudaSuccess);
  RIDGE_CUDA(cudaMemcpyAsync(host, kept, sizeof host, cudaMemcpyDeviceToHost, s), cudaSuccess);
  RIDGE_CUDA(cudaStreamSynchronize(s), cudaSuccess);
  RIDGE_CHECK(host[31] == 961);
  RIDGE_CUDA(cudaGraphLaunch(exec, s), cudaErrorInvalidValue);  // the first one's is not freed
  RIDGE_CUDA(cudaFreeAsync(kept, s), cudaSuccess);
  RIDGE_CUDA(cudaGraphLaunch(exec, s), cudaSuccess);
  RIDGE_CUDA(cudaFree(kept), cudaSuccess);
  RIDGE_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  return failures != 0;
}
