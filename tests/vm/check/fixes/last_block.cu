// FIX threadfence
#include "fixes.h"

__global__ void total(int* parts, unsigned* count, int* out) {
  if (threadIdx.x) return;
  parts[blockIdx.x] = int(blockIdx.x) + 1;
  // WITH: __threadfence();
  if (atomicInc(count, gridDim.x) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += parts[k];
  *out = sum;
}

int main() {
  Array<int> parts(8), out(1);
  Array<unsigned> count(1);
  total<<<8, 32>>>(parts, count, out);
  return verdict(out.host(), {36});
}
