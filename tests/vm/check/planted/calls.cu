// Calls that fail, in programs that do not look at what they return; and a kernel that nobody waits
// for.
#include <vector>

#include "planted.h"

__global__ void touch(int* d) { d[threadIdx.x] = 1; }
__global__ void __launch_bounds__(128) bounded(int* d) { d[threadIdx.x] = 1; }
__global__ void uses_dynamic(int* d) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  d[threadIdx.x] = s[threadIdx.x];
}
__global__ void uses_dynamic_twin(int* d) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  d[threadIdx.x] = s[threadIdx.x];
}

const Planted kAll[] = {
    {"too_many_threads", "failed-call",
     [](int fixed) {
       Array<int> d(2048);
       touch<<<2, fixed ? 1024 : 2048>>>(d);  // BUG too_many_threads
     }},
    {"no_blocks", "failed-call",
     [](int fixed) {
       Array<int> d(64);
       const int n = 10;
       touch<<<fixed ? (n + 63) / 64 : n / 64, 64>>>(d);  // BUG no_blocks
     }},
    {"swapped_arguments", "failed-call",
     [](int fixed) {
       Array<int> d(8192);
       const int blocks = fixed ? 8192 / 64 : 64, threads = fixed ? 64 : 8192;
       touch<<<blocks, threads>>>(d);  // BUG swapped_arguments
     }},
    {"grid_too_high", "failed-call",
     [](int fixed) {
       Array<int> d(64);
       touch<<<dim3(1, fixed ? 65535 : 65536), 1>>>(d);  // BUG grid_too_high
     }},
    {"beyond_launch_bounds", "failed-call",
     [](int fixed) {
       Array<int> d(256);
       bounded<<<1, fixed ? 128 : 256>>>(d);  // BUG beyond_launch_bounds
     }},
    {"too_much_shared_memory", "failed-call",
     [](int fixed) {
       Array<int> d(64);
       uses_dynamic<<<1, 64, fixed ? 48 << 10 : 64 << 10>>>(d);  // BUG too_much_shared_memory
     }},
    {"shared_memory_not_asked_for", "failed-call",
     [](int fixed) {
       Array<int> d(64);
       if (fixed)
         cudaFuncSetAttribute(uses_dynamic_twin, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              100 << 10);
       uses_dynamic_twin<<<1, 64, 100 << 10>>>(d);  // BUG shared_memory_not_asked_for
     }},
    {"too_much_memory", "failed-call",
     [](int fixed) {
       int* d = nullptr;
       cudaMalloc(&d, fixed ? 256 : 4ull << 40);  // BUG too_much_memory
       cudaFree(d);
     }},
    {"size_of_a_negative_count", "failed-call",
     [](int fixed) {
       int* d = nullptr;
       const int n = fixed ? 64 : -64;
       cudaMalloc(&d, n * sizeof(int));  // BUG size_of_a_negative_count
       cudaFree(d);
     }},
    {"wrong_direction", "invalid-copy",
     [](int fixed) {
       Array<int> d(64);
       std::vector<int> h(64);
       const cudaMemcpyKind kind = fixed ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
       cudaMemcpy(h.data(), d, 256, kind);  // BUG wrong_direction
     }},
    {"swapped_pointers", "invalid-copy",
     [](int fixed) {
       Array<int> d(64);
       std::vector<int> h(64);
       void *to = fixed ? (void*)d.data : h.data(), *from = fixed ? (void*)h.data() : d.data;
       cudaMemcpy(to, from, 256, cudaMemcpyHostToDevice);  // BUG swapped_pointers
     }},
    {"no_such_device", "failed-call",
     [](int fixed) { cudaSetDevice(fixed ? 0 : 7); }},  // BUG no_such_device
    {"destroyed_stream", "failed-call",
     [](int fixed) {
       Array<int> d(64);
       cudaStream_t stream;
       cudaStreamCreate(&stream);
       if (!fixed) cudaStreamDestroy(stream);
       touch<<<1, 64, 0, stream>>>(d);  // BUG destroyed_stream
       if (fixed) cudaStreamDestroy(stream);
     }},
    {"symbol_of_nothing", "failed-call",
     [](int fixed) {
       static int host_only;
       Array<int> d(64);
       int value = 0;
       if (fixed) cudaMemcpy(d, &value, 4, cudaMemcpyHostToDevice);
       else cudaMemcpyToSymbol(host_only, &value, 4);  // BUG symbol_of_nothing
     }},
    {"broken_ptx", "failed-call",
     [](int fixed) {
       const char* text = fixed ? ".version 8.0\n.target sm_90\n.visible .entry k() { ret; }"
                                : ".version 8.0\n.target sm_90\n.visible .entry k() { mov.u32 %r1, 0; ret; }";
       cudaLibrary_t library;
       cudaKernel_t kernel;
       cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
       cudaLibraryGetKernel(&kernel, library, "k");
       cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 10);  // BUG broken_ptx
       cudaLibraryUnload(library);
     }},
};
PLANTED_MAIN(kAll)
