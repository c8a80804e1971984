// A race and bad coalescing in one kernel: threads read what their neighbours write, and lanes of a
// warp store down a column.
#include <cstdio>
#include <cstdlib>

constexpr int kRows = 8, kCols = 32, kSize = 256;

__global__ void racy(const float* in, float* out) {
  __shared__ float tile[kRows][kCols];
  const int x = blockIdx.x * kCols + threadIdx.x, y = blockIdx.y * kRows + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * kSize + x];               // WRITE
  out[x * kSize + y] = tile[kRows - 1 - threadIdx.y][threadIdx.x];  // READ without a barrier
}

__global__ void clean(float* out) { out[threadIdx.x] = 1; }

int main(int argc, char** argv) {
  constexpr size_t kBytes = kSize * kSize * sizeof(float);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, kBytes);
  cudaMalloc(&out, kBytes);
  cudaMemset(in, 0, kBytes);
  if (argc > 1) clean<<<1, 64>>>(out);
  else racy<<<dim3(kSize / kCols, kSize / kRows), dim3(kCols, kRows)>>>(in, out);
  std::printf("said: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(out);
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
