// FIX wait-event
#include "fixes.h"

__global__ void fill(int* d) { d[threadIdx.x] = threadIdx.x; }
__global__ void twice(const int* d, int* out) { out[threadIdx.x] = 2 * d[threadIdx.x]; }

int main() {
  std::vector<int> want(128);
  for (int k = 0; k < 128; ++k) want[k] = 2 * k;
  Array<int> d(128), out(128);
  cudaStream_t one, two;
  cudaEvent_t done;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  cudaEventCreate(&done);
  cudaDeviceSynchronize();
  fill<<<1, 128, 0, one>>>(d);
  cudaEventRecord(done, one);
  // WITH: cudaStreamWaitEvent(two, done);
  twice<<<1, 128, 0, two>>>(d, out);
  cudaDeviceSynchronize();
  cudaEventDestroy(done);
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  return verdict(out.host(), want);
}
