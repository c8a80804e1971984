// FIX atomic
#include "fixes.h"

__global__ void histogram(const int* in, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] >= 0) bins[in[i] % 16]++;
}

int main() {
  const auto in = numbers(512, 97);
  std::vector<int> want(16);
  for (const int x : in) ++want[size_t(x % 16)];
  Array<int> d(in);
  Array<int> out(want.size());
  histogram<<<4, 128>>>(d, out);
  return verdict(out.host(), want);
}
