// The host touches pinned or managed memory before it has waited for the work that uses it.
#include "planted.h"

__global__ void fill(int* d, int value) { d[threadIdx.x] = value; }  // BUG managed_result // BUG overwritten_result
__global__ void add(const int* in, int* out) { out[threadIdx.x] += in[threadIdx.x]; }  // BUG overwritten_input
__global__ void count(int* d) { atomicAdd(d, 1); }  // BUG managed_counter
__managed__ int total;
__global__ void add_up(int value) { total += value; }  // BUG managed_variable

template <class T>
struct Managed {
  T* data = nullptr;
  explicit Managed(size_t n) {
    cudaMallocManaged(&data, n * sizeof(T));
    std::memset(data, 0, n * sizeof(T));
  }
  ~Managed() { cudaFree(data); }
  operator T*() const { return data; }
};
template <class T>
struct Pinned {
  T* data = nullptr;
  explicit Pinned(size_t n) {
    cudaMallocHost(&data, n * sizeof(T));
    std::memset(data, 0, n * sizeof(T));
  }
  ~Pinned() { cudaFreeHost(data); }
  operator T*() const { return data; }
};

int read(const volatile int* p) { return *p; }

const Planted kAll[] = {
    {"managed_result", "early-host-access",
     [](int fixed) {
       Managed<int> m(64);
       fill<<<1, 64>>>(m, 3);
       if (fixed) cudaDeviceSynchronize();
       volatile int* p = m;
       std::printf("%d\n", p[5]);  // BUG managed_result
     }},
    {"overwritten_result", "early-host-access",
     [](int fixed) {
       Managed<int> m(64);
       cudaStream_t stream;
       cudaStreamCreate(&stream);
       fill<<<1, 64, 0, stream>>>(m, 3);
       if (fixed) cudaStreamSynchronize(stream);
       volatile int* p = m;
       p[5] = 1;  // BUG overwritten_result
       cudaStreamDestroy(stream);
     }},
    {"overwritten_input", "early-host-access",
     [](int fixed) {
       Managed<int> m(64);
       Array<int> d(64);
       add<<<1, 64>>>(m, d);
       if (fixed) cudaDeviceSynchronize();
       volatile int* p = m;
       p[5] = 1;  // BUG overwritten_input
     }},
    {"managed_counter", "early-host-access",
     [](int fixed) {
       Managed<int> m(1);
       count<<<4, 64>>>(m);
       cudaEvent_t event;
       cudaEventCreate(&event);
       cudaEventRecord(event);
       if (fixed)
         while (cudaEventQuery(event) == cudaErrorNotReady) {
         }
       volatile int* p = m;
       std::printf("%d\n", *p);  // BUG managed_counter
       cudaEventDestroy(event);
     }},
    {"managed_variable", "early-host-access",
     [](int fixed) {
       add_up<<<1, 1>>>(2);
       if (fixed) cudaDeviceSynchronize();
       volatile int* p = &total;
       std::printf("%d\n", *p);  // BUG managed_variable
     }},
    {"pinned_target", "early-host-access",
     [](int fixed) {
       Array<int> d(64);
       Pinned<int> h(64);
       cudaMemcpyAsync(h, d, 256, cudaMemcpyDeviceToHost);
       if (fixed) cudaStreamSynchronize(nullptr);
       volatile int* p = h;
       std::printf("%d\n", p[7]);  // BUG pinned_target
     }},
    {"pinned_source", "early-host-access",
     [](int fixed) {
       Array<int> d(64);
       Pinned<int> h(64);
       cudaMemcpyAsync(d, h, 256, cudaMemcpyHostToDevice);
       volatile int* p = h;
       std::printf("%d\n", p[7]);  // reading what is only read is right
       if (fixed) cudaStreamSynchronize(nullptr);
       p[7] = 1;  // BUG pinned_source
     }},
    {"managed_target", "early-host-access",
     [](int fixed) {
       Array<int> d(64);
       Managed<int> m(64);
       cudaStream_t stream;
       cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
       cudaMemcpyAsync(m, d, 256, cudaMemcpyDefault, stream);
       if (fixed) cudaStreamSynchronize(stream);
       else cudaStreamSynchronize(nullptr);  // not that one
       volatile int* p = m;
       std::printf("%d\n", p[7]);  // BUG managed_target
       cudaStreamDestroy(stream);
     }},
    {"other_half", "early-host-access",
     [](int fixed) {  // one buffer is filled while the other is used
       Managed<int> a(2048), b(2048);
       fill<<<1, 64>>>(a, 1);
       volatile int* p = b;
       for (int i = 0; i < 2048; ++i) p[i] = i;
       Pinned<int> h(64);
       Array<int> d(64);
       cudaMemcpyAsync(h, d, 256, cudaMemcpyDeviceToHost);
       if (fixed) cudaDeviceSynchronize();
       p = h;
       std::printf("%d\n", p[0]);  // BUG other_half
       cudaDeviceSynchronize();
       p = a;
       std::printf("%d\n", p[0]);
     }},
};
PLANTED_MAIN(kAll)
