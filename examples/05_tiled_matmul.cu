// 05_tiled_matmul: C = A B, where the threads of a block share the numbers that each would fetch
// alone.
//
// An element of C needs a row of A and a column of B. A thread that works alone reads 2 K numbers
// from global memory. Here 16 x 16 threads walk along K together, one tile at a time: each fetches
// one number of A and one of B into shared memory, and then all threads use all of them. Global
// reads drop by the width of the tile, 16.
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kTile = 16;

// a: (M, K), b: (K, N), c: (M, N), all row by row
__global__ void tiled_matmul(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ float a_tile[kTile][kTile];  // (row of C, k)
  __shared__ float b_tile[kTile][kTile];  // (k, column of C)
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;

  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += kTile) {
    // Sizes need not be multiples of 16: what lies outside a matrix counts as 0 and adds nothing.
    a_tile[ty][tx] = row < M && k0 + tx < K ? a[size_t(row) * K + k0 + tx] : 0.0f;
    b_tile[ty][tx] = k0 + ty < K && col < N ? b[size_t(k0 + ty) * N + col] : 0.0f;
    __syncthreads();  // both tiles are complete
    for (int k = 0; k < kTile; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();  // everybody is done reading, before the next round overwrites them
  }
  if (row < M && col < N) c[size_t(row) * N + col] = sum;
}

std::vector<float> random_matrix(int rows, int cols, unsigned seed) {
  std::vector<float> matrix(size_t(rows) * cols);
  std::mt19937 random(seed);
  for (float& value : matrix) value = float(random() >> 8) * 0x1p-23f - 1.0f;  // [-1, 1)
  return matrix;
}

int main(int argc, char** argv) {
  // The defaults are odd on purpose: every edge of every matrix cuts through a tile.
  const Args args(argc, argv, {{"M", 333, 1, 16384}, {"N", 257, 1, 16384}, {"K", 191, 1, 16384}});
  const int M = args.size(0), N = args.size(1), K = args.size(2);
  const std::vector<float> a = random_matrix(M, K, 1);
  const std::vector<float> b = random_matrix(K, N, 2);
  std::vector<float> c(size_t(M) * N);

  float *device_a = nullptr, *device_b = nullptr, *device_c = nullptr;
  CHECK(cudaMalloc(&device_a, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&device_b, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&device_c, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(device_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_c, 0xff, c.size() * sizeof(float)));  // NaN, until written

  const dim3 block(kTile, kTile);
  const dim3 grid(ceil_div(N, kTile), ceil_div(M, kTile));
  tiled_matmul<<<grid, block>>>(device_a, device_b, device_c, M, N, K);
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(device_c));

  // Adding K products one after the other errs by at most K roundings of the sum of magnitudes.
  const double rounding = std::ldexp(1.0, -24);
  double largest_error = 0.0;
  std::vector<double> want(N), magnitude(N);  // one row of C, in double
  for (int row = 0; row < M; ++row) {
    want.assign(N, 0.0);
    magnitude.assign(N, 0.0);
    for (int k = 0; k < K; ++k) {
      for (int col = 0; col < N; ++col) {
        const double product = double(a[size_t(row) * K + k]) * b[size_t(k) * N + col];
        want[col] += product;
        magnitude[col] += std::fabs(product);
      }
    }
    for (int col = 0; col < N; ++col) {
      const float got = c[size_t(row) * N + col];
      if (!is_close(got, want[col], K * rounding * magnitude[col])) {
        return fail("C(%d, %d) is %.9g, expected %.9g", row, col, got, want[col]);
      }
      largest_error = std::fmax(largest_error, std::fabs(got - want[col]));
    }
  }
  printf("(%d x %d) times (%d x %d) in %u x %u blocks of %d x %d threads\n", M, K, K, N, grid.y,
         grid.x, kTile, kTile);
  printf("each input is read from global memory %u or %u times, not %d or %d times\n", grid.x,
         grid.y, N, M);
  printf("all %d x %d elements are right; the largest error is %.2g\n", M, N, largest_error);
  return 0;
}
