// FIX one-row
#include "fixes.h"

constexpr int kSize = 64;

__global__ void multiply(const int* a, const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 0;
  for (int j = 0; j < kSize; ++j) y[i] += a[i * kSize + j] * x[j];
}

int main() {
  const auto a = numbers(kSize * kSize, 11), x = numbers(kSize, 13);
  std::vector<int> want(kSize);
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) want[i] += a[i * kSize + j] * x[j];
  Array<int> da(a), dx(x), dy(kSize);
  multiply<<<2, dim3(32, 8)>>>(da, dx, dy);  // WITH: multiply<<<2, dim3(32, 1)>>>(da, dx, dy);
  return verdict(dy.host(), want);
}
