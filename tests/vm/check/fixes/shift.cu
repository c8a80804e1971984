// FIX read-then-write
#include "fixes.h"

__global__ void shift(int* d) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = d[t];
  __syncthreads();
  s[t] = s[(t + 1) % 128];
  __syncthreads();
  d[t] = s[t];
}

int main() {
  const auto in = numbers(128);
  auto want = in;
  for (size_t k = 0; k < want.size(); ++k) want[k] = in[(k + 1) % 128];
  Array<int> d(in);
  shift<<<1, 128>>>(d);
  return verdict(d.host(), want);
}
