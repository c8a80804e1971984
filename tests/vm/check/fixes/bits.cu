// FIX atomic
#include "fixes.h"

__global__ void bits(const int* in, unsigned* seen) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  seen[0] |= 1u << in[i] % 32;
}

int main() {
  const auto in = numbers(512, 97);
  std::vector<unsigned> want(1);
  for (const int x : in) want[0] |= 1u << x % 32;
  Array<int> d(in);
  Array<unsigned> out(want.size());
  bits<<<4, 128>>>(d, out);
  return verdict(out.host(), want);
}
