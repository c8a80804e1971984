// A program that leaves without tidying up: work still queued, nothing freed but by a static object
// after main.
#include "check.h"

__global__ void busy(int* p, int rounds) {
  for (int i = 0; i < rounds; ++i) *static_cast<volatile int*>(p) += 1;
}

struct Late {
  int* memory = nullptr;
  ~Late() { cudaFree(memory); }
} late;

int main() {
  RIDGE_CUDA(cudaMalloc(&late.memory, 64), cudaSuccess);
  cudaStream_t streams[3];
  int *leaked, *pinned;
  RIDGE_CUDA(cudaMalloc(&leaked, 64), cudaSuccess);
  RIDGE_CUDA(cudaMallocHost(&pinned, 64), cudaSuccess);
  for (cudaStream_t& stream : streams) {
    RIDGE_CUDA(cudaStreamCreate(&stream), cudaSuccess);
    for (int i = 0; i < 10; ++i) busy<<<1, 1, 0, stream>>>(leaked, 1000);
    RIDGE_CUDA(cudaMemcpyAsync(pinned, leaked, 64, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  }
  return failures != 0;
}
