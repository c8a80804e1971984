// Accesses to memory that is not there.
#include "planted.h"

constexpr int kCount = 100;

__global__ void read_past_end(const int* d, int* out, int fixed) {
  const int i = threadIdx.x;
  if (!fixed || i < kCount) out[i % kCount] = d[i];  // BUG read_past_end
}
__global__ void write_past_end(int* d, int* out, int fixed) {
  const int i = threadIdx.x;
  if (i <= kCount - fixed) d[i] = out[0];            // BUG write_past_end
}
__global__ void before_start(const int* d, int* out, int fixed) {
  const int i = int(threadIdx.x) % kCount;
  out[i] = i > 0 || !fixed ? d[i - 1 - (fixed ? 0 : 1024)] : 0;  // BUG before_start
}
__global__ void past_shared(int* d, int* out, int fixed) {
  __shared__ int tile[128];
  const int t = threadIdx.x;
  tile[fixed ? t : t * 4] = d[t % kCount];           // BUG past_shared
  __syncthreads();
  if (t < kCount) out[t] = tile[t];
}
__global__ void misaligned(int* d, int* out, int fixed) {
  const int2 v = *reinterpret_cast<const int2*>(d + (fixed ? 2 : 1));  // BUG misaligned
  out[0] = v.x + v.y;
}
__global__ void misaligned_shared(int* d, int* out, int fixed) {
  __shared__ __align__(16) int tile[128];
  tile[threadIdx.x] = d[0];
  __syncthreads();
  const int4 v = *reinterpret_cast<const int4*>(tile + (fixed ? 4 : 2));  // BUG misaligned_shared
  if (threadIdx.x == 0) out[0] = v.x + v.y + v.z + v.w;
}
__global__ void null_pointer(const int* d, int* out) {
  out[0] = d[3];                                     // BUG null_pointer
}
__global__ void freed(const int* d, int* out) {
  if (threadIdx.x < kCount) out[threadIdx.x] = d[threadIdx.x];  // BUG freed
}

#define ON_ONE_BLOCK(kernel)                   \
  [](int fixed) {                              \
    Array<int> d(kCount), out(kCount);         \
    kernel<<<1, 128>>>(d, out, fixed);         \
    cudaDeviceSynchronize();                   \
  }

const Planted kAll[] = {
    {"read_past_end", "out-of-bounds", ON_ONE_BLOCK(read_past_end)},
    {"write_past_end", "out-of-bounds", ON_ONE_BLOCK(write_past_end)},
    {"before_start", "out-of-bounds",
     [](int fixed) {
       Array<int> d(kCount), out(kCount);
       before_start<<<1, kCount>>>(d, out, fixed);
       cudaDeviceSynchronize();
     }},
    {"past_shared", "out-of-bounds", ON_ONE_BLOCK(past_shared)},
    {"misaligned", "misaligned",
     [](int fixed) {
       Array<int> d(kCount), out(kCount);
       misaligned<<<1, 1>>>(d, out, fixed);
       cudaDeviceSynchronize();
     }},
    {"misaligned_shared", "misaligned", ON_ONE_BLOCK(misaligned_shared)},
    {"null_pointer", "out-of-bounds",
     [](int fixed) {
       Array<int> d(kCount), out(kCount);
       null_pointer<<<1, 1>>>(fixed ? d.data : nullptr, out);
       cudaDeviceSynchronize();
     }},
    {"freed", "use-after-free",
     [](int fixed) {
       Array<int> out(kCount);
       int* d;
       cudaMalloc(&d, kCount * sizeof(int));
       cudaMemset(d, 0, kCount * sizeof(int));
       if (!fixed) cudaFree(d);
       freed<<<1, 128>>>(d, out);
       cudaDeviceSynchronize();
       if (fixed) cudaFree(d);
     }},
};
PLANTED_MAIN(kAll)
