// FIX syncthreads-between
#include "fixes.h"

constexpr int kTile = 16, kSize = 48;

__global__ void multiply(const int* a, const int* b, int* c) {
  __shared__ int as[kTile][kTile], bs[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  int sum = 0;
  for (int k = 0; k < kSize; k += kTile) {
    as[y][x] = a[row * kSize + k + x];
    bs[y][x] = b[(k + y) * kSize + column];
    for (int j = 0; j < kTile; ++j)
      sum += as[y][j] * bs[j][x];
    __syncthreads();
  }
  c[row * kSize + column] = sum;
}

int main() {
  const auto a = numbers(kSize * kSize, 11), b = numbers(kSize * kSize, 13);
  std::vector<int> want(kSize * kSize);
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j)
      for (int k = 0; k < kSize; ++k) want[i * kSize + j] += a[i * kSize + k] * b[k * kSize + j];
  Array<int> da(a), db(b), dc(kSize * kSize);
  multiply<<<dim3(kSize / kTile, kSize / kTile), dim3(kTile, kTile)>>>(da, db, dc);
  return verdict(dc.host(), want);
}
