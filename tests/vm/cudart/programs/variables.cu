// __device__, __constant__ and __managed__ variables, read and written from both sides.
#include "check.h"

__device__ int counter = 5;
__device__ float table[4] = {1, 2, 3, 4};
__constant__ int offsets[2] = {10, 20};
__managed__ int both = 100;
static __device__ int* pointer = &counter;  // an initialiser with an address

__global__ void work(int* out) {
  out[0] = counter + offsets[0] + offsets[1];
  out[1] = int(table[2]) + both;
  *pointer += 1;
  both += 1;
}

int main() {
  int* device;
  int host[2];
  RIDGE_CUDA(cudaMalloc(&device, sizeof host), cudaSuccess);
  both += 5;
  work<<<1, 1>>>(device);
  RIDGE_CUDA(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  RIDGE_CHECK(host[0] == 35);
  RIDGE_CHECK(host[1] == 108);
  RIDGE_CHECK(both == 106);
  int seen = 0;
  RIDGE_CUDA(cudaMemcpyFromSymbol(&seen, counter, sizeof seen), cudaSuccess);
  RIDGE_CHECK(seen == 6);

  const int changed[2] = {1, 2};
  RIDGE_CUDA(cudaMemcpyToSymbol(offsets, changed, sizeof changed), cudaSuccess);
  RIDGE_CUDA(cudaMemcpyToSymbol(offsets, changed, sizeof changed, 4), cudaErrorInvalidValue);
  work<<<1, 1>>>(device);
  RIDGE_CUDA(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  RIDGE_CHECK(host[0] == 9);

  void* address = nullptr;
  size_t size = 0;
  RIDGE_CUDA(cudaGetSymbolAddress(&address, table), cudaSuccess);
  RIDGE_CUDA(cudaGetSymbolSize(&size, table), cudaSuccess);
  RIDGE_CHECK(size == sizeof table);
  float third = 0;
  RIDGE_CUDA(
      cudaMemcpy(&third, static_cast<float*>(address) + 2, sizeof third, cudaMemcpyDeviceToHost),
      cudaSuccess);
  RIDGE_CHECK(third == 3);
  RIDGE_CUDA(cudaMemcpyToSymbol(seen, &seen, 4), cudaErrorInvalidSymbol);
  return failures != 0;
}
