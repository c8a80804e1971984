// Reads of global memory that nobody has written.
#include <cuda_fp16.h>

#include "planted.h"

constexpr int kCount = 256;

__global__ void copy(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG never_written // BUG half_copied // BUG short_fill // BUG copy_of_empty
}
__global__ void accumulate(int* sum) {
  sum[threadIdx.x] += int(threadIdx.x);  // BUG accumulator
}
__global__ void count(unsigned* bins) {
  atomicAdd(&bins[threadIdx.x % 16], 1u);  // BUG bins
}
__global__ void produce(int* d, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) d[i] = i;
}
__global__ void consume(const int* d, int* out) {
  out[threadIdx.x] = d[threadIdx.x];  // BUG tail
}
__global__ void vectors(const half2* d, float* out) {
  const half2 v = d[threadIdx.x];  // BUG odd_half
  out[threadIdx.x] = __low2float(v) + __high2float(v);
}

const Planted kAll[] = {
    {"never_written", "uninitialised",
     [](int fixed) {
       Array<int> in(kCount, fixed), out(kCount);
       copy<<<1, kCount>>>(in, out);
       cudaDeviceSynchronize();
     }},
    {"half_copied", "uninitialised",
     [](int fixed) {
       Array<int> in(kCount, false), out(kCount);
       int h[kCount] = {};
       cudaMemcpy(in, h, fixed ? sizeof h : kCount, cudaMemcpyHostToDevice);  // elements, not bytes
       copy<<<1, kCount>>>(in, out);
       cudaDeviceSynchronize();
     }},
    {"short_fill", "uninitialised",
     [](int fixed) {
       Array<int> in(kCount, false), out(kCount);
       cudaMemset(in, 0, (fixed ? kCount : kCount - 1) * sizeof(int));
       copy<<<1, kCount>>>(in, out);
       cudaDeviceSynchronize();
     }},
    {"copy_of_empty", "uninitialised",
     [](int fixed) {
       Array<int> first(kCount, fixed), in(kCount), out(kCount);
       cudaMemcpy(in, first, kCount * sizeof(int), cudaMemcpyDeviceToDevice);
       Array<int> fresh(kCount, false);
       cudaMemcpy(fresh, first, kCount * sizeof(int), cudaMemcpyDeviceToDevice);
       copy<<<1, kCount>>>(fresh, out);
       cudaDeviceSynchronize();
     }},
    {"accumulator", "uninitialised",
     [](int fixed) {
       Array<int> sum(kCount, fixed);
       accumulate<<<1, kCount>>>(sum);
       cudaDeviceSynchronize();
     }},
    {"bins", "uninitialised",
     [](int fixed) {
       Array<unsigned> bins(16, fixed);
       count<<<1, kCount>>>(bins);
       cudaDeviceSynchronize();
     }},
    {"tail", "uninitialised",
     [](int fixed) {
       Array<int> d(kCount, false), out(kCount);
       produce<<<fixed ? 3 : 2, 100>>>(d, kCount);
       consume<<<1, kCount>>>(d, out);
       cudaDeviceSynchronize();
     }},
    {"odd_half", "uninitialised",
     [](int fixed) {
       const int n = fixed ? 64 : 63;
       Array<half> d(64, false);
       Array<float> out(32);
       cudaMemset(d, 0, n * sizeof(half));
       vectors<<<1, 32>>>(reinterpret_cast<const half2*>(d.data), out);
       cudaDeviceSynchronize();
     }},
};
PLANTED_MAIN(kAll)
