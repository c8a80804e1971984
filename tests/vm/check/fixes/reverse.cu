// FIX syncthreads-between
#include "fixes.h"

__global__ void reverse(int* d) {
  __shared__ int tile[128];
  const int t = threadIdx.x;
  if (t < 128) {
    tile[t] = d[t];
  }
  d[t] = tile[127 - t];
}

int main() {
  const auto in = numbers(128);
  Array<int> d(in);
  reverse<<<1, 128>>>(d);
  return verdict(d.host(), std::vector<int>(in.rbegin(), in.rend()));
}
