// The host follows a pointer of the device, and the same with a copy, or with memory of both.
#include "planted.h"

#include <cstdlib>

__global__ void fill(int* d) { d[threadIdx.x] = int(threadIdx.x); }
__device__ int table[64];

int sum_of(const volatile int* p) {
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += p[i];  // BUG sum
  return sum;
}

// What the device has there, as the host gets it.
struct Copied {
  int values[64];
  explicit Copied(const int* d) { cudaMemcpy(values, d, sizeof values, cudaMemcpyDeviceToHost); }
};

const Planted kAll[] = {
    {"write", "host-access",
     [](int fixed) {
       int* d;
       if (fixed) cudaMallocManaged(&d, 256);
       else cudaMalloc(&d, 256);
       volatile int* p = d;
       p[7] = 1;  // BUG write
       cudaFree(d);
     }},
    {"read_behind_a_kernel", "host-access",
     [](int fixed) {
       Array<int> d(64);
       fill<<<1, 64>>>(d);
       const Copied h(d);
       volatile const int* p = fixed ? h.values : d.data;
       std::printf("%d\n", p[7]);  // BUG read_behind_a_kernel
     }},
    {"sum", "host-access",
     [](int fixed) {
       Array<int> d(64);
       fill<<<1, 64>>>(d);
       const Copied h(d);
       std::printf("%d\n", sum_of(fixed ? h.values : d.data));
     }},
    {"memcpy", "host-access",
     [](int fixed) {
       Array<int> d(64);
       int h[64];
       if (fixed) cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
       else std::memcpy(h, d.data, sizeof h);  // BUG memcpy
       std::printf("%d\n", h[3]);
     }},
    {"free", "host-access",
     [](int fixed) {
       int* d;
       cudaMalloc(&d, 256);
       cudaMemset(d, 0, 256);
       if (fixed) cudaFree(d);
       else std::free(d);  // BUG free
     }},
    {"device_variable", "host-access",
     [](int fixed) {
       int* p;
       cudaGetSymbolAddress(reinterpret_cast<void**>(&p), table);
       const int one = 1;
       if (fixed) cudaMemcpyToSymbol(table, &one, sizeof one);
       else *static_cast<volatile int*>(p) = one;  // BUG device_variable
     }},
    {"pooled", "host-access",
     [](int fixed) {
       int* d;
       cudaMallocAsync(&d, 256, nullptr);
       if (fixed) cudaMemsetAsync(d, 0, 256, nullptr);
       else static_cast<volatile int*>(d)[1] = 3;  // BUG pooled
       cudaFreeAsync(d, nullptr);
     }},
    {"host_function", "host-access",
     [](int fixed) {
       Array<int> d(64);
       int* pinned;
       cudaMallocHost(&pinned, 256);
       cudaMemcpyAsync(pinned, d, 256, cudaMemcpyDeviceToHost, nullptr);
       void* data = fixed ? pinned : d.data;
       cudaLaunchHostFunc(
           nullptr, [](void* p) { ++*static_cast<volatile int*>(p); }, data);  // BUG host_function
       cudaDeviceSynchronize();
       cudaFreeHost(pinned);
     }},
};
PLANTED_MAIN(kAll)
