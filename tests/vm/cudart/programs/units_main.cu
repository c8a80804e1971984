// Separate compilation (-rdc=true): functions and variables of units_other.cu used here, and names
// both units have.
#include "check.h"

extern __device__ int shared_value;
extern __device__ int twice(int x);
__global__ void other(int* out);

static __device__ int own = 5;
static __device__ int with_own(int x) { return x + own; }
template <class T>
__device__ __noinline__ T common(T x) {
  return x * 3;
}

typedef int (*Function)(int);
extern __device__ Function chosen;

__global__ void kernel(int* out) { *out = twice(shared_value) + with_own(1) + common(2); }
// Both units have strings, which nvcc gives the same names.
__global__ void strings(int* out) {
  const char* text = *out > 0 ? "main" : "unit";
  printf("strings of the %s\n", text);
  *out = chosen(text[0]);
}

int main() {
  int *device, host = 0;
  RIDGE_CUDA(cudaMalloc(&device, sizeof host), cudaSuccess);
  kernel<<<1, 1>>>(device);
  RIDGE_CUDA(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  RIDGE_CHECK(host == 42 + 6 + 6);
  other<<<1, 1>>>(device);
  RIDGE_CUDA(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  RIDGE_CHECK(host == 100 + 9);
  strings<<<1, 1>>>(device);
  RIDGE_CUDA(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
  RIDGE_CHECK(host == 2 * 'm');
  return failures != 0;
}
