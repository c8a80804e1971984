// What goes wrong at a launch, and what a fault leaves behind. The fault comes last: the device is
// dead after it.
#include "check.h"

__global__ void nothing() {}
__global__ void __launch_bounds__(128) bounded(int* p) {
  if (p) *p = 1;
}
__global__ void dynamic(int* p) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = 1;
  if (p) *p = shared[0];
}
__global__ void write(int* p) { *p = 1; }

int main() {
  nothing<<<0, 1>>>();
  RIDGE_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  nothing<<<1, 1025>>>();
  RIDGE_CUDA(cudaPeekAtLastError(), cudaErrorInvalidValue);
  RIDGE_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  RIDGE_CUDA(cudaGetLastError(), cudaSuccess);
  bounded<<<1, 129>>>(nullptr);
  RIDGE_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  dynamic<<<1, 32, 48 * 1024 + 1>>>(nullptr);
  RIDGE_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  RIDGE_CUDA(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024),
             cudaSuccess);
  dynamic<<<1, 32, 64 * 1024>>>(nullptr);
  RIDGE_CUDA(cudaGetLastError(), cudaSuccess);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);

  int* p;
  RIDGE_CUDA(cudaMalloc(&p, 4), cudaSuccess);
  write<<<1, 1>>>(p);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  write<<<1, 1>>>(nullptr);
  RIDGE_CUDA(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  RIDGE_CUDA(cudaGetLastError(), cudaErrorIllegalAddress);
  RIDGE_CUDA(cudaFree(p), cudaErrorIllegalAddress);
  int count = 0;
  RIDGE_CUDA(cudaGetDeviceCount(&count), cudaSuccess);
  RIDGE_CHECK(count >= 1);
  return failures != 0;
}
