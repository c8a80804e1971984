// Launches with every kind of argument and shape, and results copied back.
#include "check.h"

struct Args {
  char tag;
  double scale;
  int offsets[3];
};

__global__ void mixed(int* out, int n, Args args, float add, char c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = int(i * args.scale) + args.offsets[i % 3] + int(add) + c + args.tag;
}

template <class T>
__global__ void fill(T* out, T value) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = value;
}

__global__ void reverse(int* data) {
  extern __shared__ int row[];
  row[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = row[blockDim.x - 1 - threadIdx.x];
}

int main() {
  constexpr int n = 1000;
  int* device;
  static int host[n];
  RIDGE_CUDA(cudaMalloc(&device, n * sizeof(int)), cudaSuccess);
  mixed<<<4, 256>>>(device, n, Args{1, 2.5, {10, 20, 30}}, 100.0f, 3);
  RIDGE_CUDA(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < n; ++i) RIDGE_CHECK(host[i] == int(i * 2.5) + (i % 3 + 1) * 10 + 104);

  fill<<<dim3(2, 3, 4), dim3(4, 2, 5)>>>(device, 77);
  RIDGE_CUDA(cudaMemcpy(host, device, sizeof host, cudaMemcpyDefault), cudaSuccess);
  for (int i = 0; i < n; ++i) RIDGE_CHECK((host[i] == 77) == (i < 960));
  double* wide;
  double wide_host[8];
  RIDGE_CUDA(cudaMalloc(&wide, sizeof wide_host), cudaSuccess);
  fill<<<1, 8>>>(wide, 0.5);
  RIDGE_CUDA(cudaMemcpy(wide_host, wide, sizeof wide_host, cudaMemcpyDeviceToHost), cudaSuccess);
  for (double value : wide_host) RIDGE_CHECK(value == 0.5);

  for (int i = 0; i < n; ++i) host[i] = i;
  RIDGE_CUDA(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
  reverse<<<1, 128, 128 * sizeof(int)>>>(device);
  RIDGE_CUDA(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < 128; ++i) RIDGE_CHECK(host[i] == 127 - i);
  RIDGE_CUDA(cudaGetLastError(), cudaSuccess);
  RIDGE_CUDA(cudaFree(device), cudaSuccess);
  return failures != 0;
}
