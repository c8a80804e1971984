// A kernel that runs, one that runs off the end of its memory, or none: as the argument says.
#include <cstdio>
#include <cstring>

__global__ void scale(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 2 * x[i];
}

__global__ void run_off(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 1;
  if (blockIdx.x == 3) x[i + (1 << 20)] = 2;
}

__global__ void forever(volatile float* x) {
  while (*x == 0) {}
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  float* x;
  cudaMalloc(&x, 1024 * sizeof(float));
  cudaMemset(x, 0, 1024 * sizeof(float));
  if (!std::strcmp(what, "thrice"))
    for (int i = 0; i < 3; ++i) scale<<<4, 256>>>(x);
  else if (!std::strcmp(what, "run_off")) run_off<<<4, 256>>>(x);
  else if (!std::strcmp(what, "forever")) forever<<<1, 1>>>(x);
  else if (std::strcmp(what, "nothing") != 0) scale<<<4, 256>>>(x);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("said: %s\n", cudaGetErrorName(error));
  return error == cudaSuccess ? 0 : 7;
}
