// FIX grid-wait
#include "fixes.h"

__global__ void fill(int* d) {
  cudaTriggerProgrammaticLaunchCompletion();
  d[threadIdx.x] = threadIdx.x;
}
__global__ void twice(const int* d, int* out) {
  const int i = threadIdx.x;
  out[i] = 2 * d[i];
}

int main() {
  std::vector<int> want(128);
  for (int k = 0; k < 128; ++k) want[k] = 2 * k;
  Array<int> d(128), out(128);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(128);
  config.attrs = &early;
  config.numAttrs = 1;
  fill<<<1, 128>>>(d);
  cudaLaunchKernelEx(&config, twice, (const int*)d, (int*)out);
  cudaDeviceSynchronize();
  return verdict(out.host(), want);
}
