// FIX syncthreads-between
#include "fixes.h"

__device__ __forceinline__ int turned(int value) {
  __shared__ int s[128];
  s[threadIdx.x] = value;
  __syncthreads();
  return s[127 - threadIdx.x];
}

__global__ void twice(int* d) {
  const int once = turned(d[threadIdx.x]);
  d[threadIdx.x] = turned(once + 1);
}

int main() {
  auto want = numbers(128);
  Array<int> d(want);
  for (int& x : want) ++x;
  twice<<<1, 128>>>(d);
  return verdict(d.host(), want);
}
