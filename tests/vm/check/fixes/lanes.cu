// FIX syncwarp-between
#include "fixes.h"

__global__ void swap_neighbours(int* d) {
  __shared__ int s[4][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  s[warp][lane] = d[threadIdx.x];
  d[threadIdx.x] = s[warp][lane ^ 1];
}

int main() {
  const auto in = numbers(128);
  auto want = in;
  for (size_t k = 0; k < want.size(); ++k) want[k] = in[k ^ 1];
  Array<int> d(in);
  swap_neighbours<<<1, 128>>>(d);
  return verdict(d.host(), want);
}
