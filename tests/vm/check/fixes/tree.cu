// FIX syncthreads-loop-end
#include "fixes.h"

__global__ void sum(const int* in, int* out) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int n = 128; n > 0; n /= 2) {
    if (t < n) s[t] += s[t + n];
  }
  if (t == 0) *out = s[0];
}

int main() {
  const auto in = numbers(256, 100);
  int want = 0;
  for (const int x : in) want += x;
  Array<int> d(in), out(1);
  sum<<<1, 256>>>(d, out);
  return verdict(out.host(), {want});
}
