// FIX split-launch
#include "fixes.h"

__global__ void steps(int* d, int* out, int first, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  if (first) d[i] = i * i;
  if (last) out[i] = d[n - 1 - i];
}

int main() {
  std::vector<int> want(512);
  for (int k = 0; k < 512; ++k) want[k] = (511 - k) * (511 - k);
  Array<int> d(512), out(512);
  steps<<<4, 128>>>(d, out, 1, 1);  // WITH: steps<<<4, 128>>>(d, out, 1, 0); steps<<<4, 128>>>(d, out, 0, 1);
  return verdict(out.host(), want);
}
