// A cooperative launch: all blocks meet at a barrier of their own making.
#include "check.h"

__device__ unsigned arrived;

__global__ void meet(int* out, int blocks) {
  out[blockIdx.x] = int(blockIdx.x) + 1;
  __threadfence();
  atomicAdd(&arrived, 1);
  while (atomicAdd(&arrived, 0) < unsigned(blocks)) {
  }
  __threadfence();
  if (blockIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < blocks; ++i) sum += static_cast<volatile int*>(out)[i];
    out[blocks] = sum;
  }
}

int main() {
  int blocks = 24, *device, sum = 0;
  RIDGE_CUDA(cudaMalloc(&device, (blocks + 1) * sizeof(int)), cudaSuccess);
  void* arguments[] = {&device, &blocks};
  RIDGE_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(meet), dim3(blocks), dim3(1),
                                         arguments, 0, nullptr),
             cudaSuccess);
  RIDGE_CUDA(cudaMemcpy(&sum, device + blocks, sizeof sum, cudaMemcpyDeviceToHost), cudaSuccess);
  RIDGE_CHECK(sum == blocks * (blocks + 1) / 2);
  RIDGE_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(meet), dim3(1 << 20), dim3(1024),
                                         arguments, 0, nullptr),
             cudaErrorCooperativeLaunchTooLarge);
  return failures != 0;
}
