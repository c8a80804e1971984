// Work of two streams on the same memory, with nothing that orders them.
#include "planted.h"

constexpr int kCount = 256;

__global__ void write(int* d, int value) {
  d[threadIdx.x] = value + int(threadIdx.x);  // BUG two_kernels // BUG copy_out // BUG early_event // BUG not_blocking
}
__global__ void read(const int* d, int* out) {
  out[threadIdx.x] = d[threadIdx.x];  // BUG two_kernels // BUG copy_in // BUG fill // BUG early_event // BUG not_blocking
}

struct Two {
  cudaStream_t a, b;
  cudaEvent_t event;
  int* host;
  Array<int> d{kCount}, out{kCount};
  explicit Two(unsigned flags = cudaStreamNonBlocking) {
    cudaStreamCreateWithFlags(&a, flags);
    cudaStreamCreateWithFlags(&b, flags);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMallocHost(&host, kCount * sizeof(int));
    for (int i = 0; i < kCount; ++i) host[i] = i;
    cudaDeviceSynchronize();
  }
  ~Two() {
    cudaDeviceSynchronize();
    cudaFreeHost(host);
    cudaEventDestroy(event);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
  }
};

const Planted kAll[] = {
    {"two_kernels", "race",
     [](int fixed) {
       Two t;
       write<<<1, kCount, 0, t.a>>>(t.d, 1);
       if (fixed) {
         cudaEventRecord(t.event, t.a);
         cudaStreamWaitEvent(t.b, t.event);
       }
       read<<<1, kCount, 0, t.b>>>(t.d, t.out);
     }},
    {"copy_in", "race",
     [](int fixed) {
       Two t;
       cudaMemcpyAsync(t.d, t.host, kCount * sizeof(int), cudaMemcpyHostToDevice, t.a);
       if (fixed) cudaStreamSynchronize(t.a);
       read<<<1, kCount, 0, t.b>>>(t.d, t.out);
     }},
    {"copy_out", "race",
     [](int fixed) {
       Two t;
       write<<<1, kCount, 0, t.a>>>(t.d, 1);
       cudaMemcpyAsync(t.host, t.d, kCount * sizeof(int), cudaMemcpyDeviceToHost,
                       fixed ? t.a : t.b);
     }},
    {"fill", "race",
     [](int fixed) {
       Two t;
       cudaMemsetAsync(t.d, 0, kCount * sizeof(int), t.a);
       if (fixed) cudaDeviceSynchronize();
       read<<<1, kCount, 0, t.b>>>(t.d, t.out);
     }},
    {"early_event", "race",
     [](int fixed) {
       Two t;
       if (!fixed) cudaEventRecord(t.event, t.a);
       write<<<1, kCount, 0, t.a>>>(t.d, 1);
       if (fixed) cudaEventRecord(t.event, t.a);
       cudaStreamWaitEvent(t.b, t.event);
       read<<<1, kCount, 0, t.b>>>(t.d, t.out);
     }},
    {"not_blocking", "race",  // the legacy stream waits for blocking streams, not for these
     [](int fixed) {
       Two t(fixed ? cudaStreamDefault : cudaStreamNonBlocking);
       write<<<1, kCount, 0, t.a>>>(t.d, 1);
       read<<<1, kCount>>>(t.d, t.out);
     }},
};
PLANTED_MAIN(kAll)
