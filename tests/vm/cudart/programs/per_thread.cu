// Built with --default-stream per-thread: <<<>>> and cudaMemcpy use the calling thread's own
// stream.
#include <thread>
#include <vector>

#include "check.h"

__global__ void count(int* data, int n) {
  for (int i = 0; i < n; ++i) data[threadIdx.x] += 1;
}

void work(int index) {
  int *device, host[32];
  RIDGE_CUDA(cudaMalloc(&device, sizeof host), cudaSuccess);
  RIDGE_CUDA(cudaMemset(device, 0, sizeof host), cudaSuccess);
  count<<<1, 32>>>(device, index + 1);
  count<<<1, 32>>>(device, 10);
  RIDGE_CUDA(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int value : host) RIDGE_CHECK(value == index + 11);
  RIDGE_CUDA(cudaFree(device), cudaSuccess);
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  return failures != 0;
}
