// What the host does wrong with memory: leaks, wrong frees, copies of the wrong size.
#include "planted.h"

__global__ void touch(int* d) { d[threadIdx.x] = 1; }

const Planted kAll[] = {
    {"leak", "leak",
     [](int fixed) {
       int* d;
       cudaMalloc(&d, 256);  // BUG leak
       touch<<<1, 64>>>(d);
       cudaDeviceSynchronize();
       if (fixed) cudaFree(d);
     }},
    {"leak_managed", "leak",
     [](int fixed) {
       int* d;
       cudaMallocManaged(&d, 256);  // BUG leak_managed
       touch<<<1, 64>>>(d);
       cudaDeviceSynchronize();
       if (fixed) cudaFree(d);
     }},
    {"leak_on_error_path", "leak",
     [](int fixed) {
       int *a, *b;
       cudaMalloc(&a, 256);
       cudaMalloc(&b, 256);  // BUG leak_on_error_path
       touch<<<1, 64>>>(a);
       cudaDeviceSynchronize();
       cudaFree(a);
       cudaFree(fixed ? b : nullptr);
     }},
    {"leak_async", "leak",
     [](int fixed) {
       int* d;
       cudaMallocAsync(&d, 256, nullptr);  // BUG leak_async
       touch<<<1, 64>>>(d);
       if (fixed) cudaFreeAsync(d, nullptr);
       cudaDeviceSynchronize();
     }},
    {"double_free", "invalid-free",
     [](int fixed) {
       int* d;
       cudaMalloc(&d, 256);
       cudaFree(d);
       if (!fixed) cudaFree(d);  // BUG double_free
     }},
    {"free_inside", "invalid-free",
     [](int fixed) {
       int* d;
       cudaMalloc(&d, 256);
       if (!fixed) cudaFree(d + 8);  // BUG free_inside
       cudaFree(d);
     }},
    {"free_of_host_memory", "invalid-free",
     [](int fixed) {
       int* h;
       cudaMallocHost(&h, 256);
       if (!fixed) cudaFree(h);  // BUG free_of_host_memory
       cudaFreeHost(h);
     }},
    {"copy_too_long", "invalid-copy",
     [](int fixed) {
       Array<int> d(64);
       int h[128] = {};
       cudaMemcpy(d, h, fixed ? 256 : 512, cudaMemcpyHostToDevice);  // BUG copy_too_long
     }},
    {"fill_too_long", "invalid-copy",
     [](int fixed) {
       Array<int> d(64, false);
       cudaMemset(d, 0, fixed ? 256 : 1024);  // BUG fill_too_long
     }},
};
PLANTED_MAIN(kAll)
