// Loads that the compiler moves before the condition under which they are used: what the other
// lanes load there is thrown away, whether it has a value or somebody writes it meanwhile.
#include <cstdio>

constexpr int kWarps = 32;

// `if (c) use(part[W])` for one W after the other; nvcc loads all and selects.
template <int W>
__device__ __forceinline__ float largest(float m, const float* part, int n) {
  if constexpr (W < kWarps) {
    if (W * 32 < n) {
      const float x = part[W];
      m = m > x ? m : x;
    }
    return largest<W + 1>(m, part, n);
  }
  return m;
}

__global__ void some_have_no_value(const float* in, float* out) {
  __shared__ float part[kWarps];
  float m = in[threadIdx.x];
  for (int d = 16; d; d >>= 1) {
    const float x = __shfl_down_sync(~0u, m, d);
    m = m > x ? m : x;
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x == 0) *out = largest<1>(m, part, blockDim.x);
}

__global__ void some_are_written(const float* in, float* out, int n) {
  __shared__ float part[kWarps];
  part[threadIdx.x % 32] = in[threadIdx.x % 32];
  __syncthreads();
  if (threadIdx.x == 32) part[20] = float(n);
  if (threadIdx.x == 0) *out = largest<1>(in[0], part, n);
}

int main() {
  float host[64], result[2], *d;
  for (int k = 0; k < 64; ++k) host[k] = float(k);
  cudaMalloc(&d, sizeof host + sizeof result);
  cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice);
  some_have_no_value<<<1, 64>>>(d, d + 64);
  some_are_written<<<1, 64>>>(d, d + 65, 64);
  cudaMemcpy(result, d + 64, sizeof result, cudaMemcpyDeviceToHost);
  cudaFree(d);
  if (result[0] == 63 && result[1] == 1) return 0;
  std::printf("%g and %g, not 63 and 1\n", double(result[0]), double(result[1]));
  return 1;
}
