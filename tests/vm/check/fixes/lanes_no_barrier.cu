// FIX syncwarp-both
#include "fixes.h"

__global__ void add_rows(const int* in, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) {
    s[lane] = in[k * 32 + lane];
    sum += s[31 - lane];
  }
  out[lane] = sum;
}

int main() {
  const auto in = numbers(128, 100);
  std::vector<int> want(32);
  for (size_t k = 0; k < 128; ++k) want[31 - k % 32] += in[k];
  Array<int> d(in), out(32);
  add_rows<<<1, 32>>>(d, out);
  return verdict(out.host(), want);
}
