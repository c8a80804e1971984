// A __shared__ array's index runs into its neighbour, where nothing faults.
#include "planted.h"

__global__ void one_too_many(int* d, int n) {
  __shared__ int a[32], b[32];
  const int t = threadIdx.x;
  a[t] = t;
  b[t] = -t;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] + b[i % 32];  // BUG one_too_many
  d[t] = sum;
}

__global__ void before_the_start(float* d, int first) {
  __shared__ float guard[32], a[32];
  const int t = threadIdx.x;
  guard[t] = 1;
  a[t] = d[t];
  __syncwarp();
  const int i = t + first;
  if (t + 1 < 32) d[t] = a[i] + guard[t];  // BUG before_the_start
}

__global__ void stored(int* d, int at) {
  __shared__ int a[16];
  __shared__ int b[32];
  const int t = threadIdx.x;
  b[t] = t;
  if (t < 16) a[t] = 1;
  __syncwarp();
  if (t == 0) a[at] = 7;  // BUG stored
  __syncwarp();
  d[t] = b[t] + a[t / 2];
}

__global__ void counted(int* d, int bins) {
  __shared__ int histogram[8];
  __shared__ int other[64];
  const int t = threadIdx.x;
  for (int i = t; i < 8; i += 32) histogram[i] = 0;
  for (int i = t; i < 64; i += 32) other[i] = 0;
  __syncthreads();
  atomicAdd(&histogram[t % bins], 1);  // BUG counted
  __syncthreads();
  d[t] = histogram[t % 8] + other[t];
}

// Nothing is wrong with these: one array used as several, memory of a union, dynamic memory that is
// carved by hand, a pointer that is to one array or the other.
__global__ void carved(int* d, int half) {
  extern __shared__ int dynamic[];
  __shared__ int both[64];
  __shared__ union {
    int words[32];
    float numbers[64];
  } u;
  int *low = both, *high = both + half, *more = dynamic + half;
  const int t = threadIdx.x;
  low[t] = t;
  high[t] = -t;
  dynamic[t] = t;
  more[t] = t;
  u.words[t] = t;
  u.numbers[32 + t] = float(t);
  __syncthreads();
  int* either = t % 2 ? both : u.words;
  d[t] = low[31 - t] + high[31 - t] + more[31 - t] + either[t / 2] + int(u.numbers[63 - t]);
}

#define ON_ONE_WARP(kernel, T, wrong, right)     \
  [](int fixed) {                                \
    Array<T> d(32);                              \
    kernel<<<1, 32>>>(d, fixed ? right : wrong); \
    Array<int> c(32);                            \
    carved<<<1, 32, 256>>>(c, 32);               \
    cudaDeviceSynchronize();                     \
  }

const Planted kAll[] = {
    {"one_too_many", "out-of-bounds", ON_ONE_WARP(one_too_many, int, 33, 32)},
    {"before_the_start", "out-of-bounds", ON_ONE_WARP(before_the_start, float, -1, 0)},
    {"stored", "out-of-bounds", ON_ONE_WARP(stored, int, 16, 0)},
    {"counted", "out-of-bounds", ON_ONE_WARP(counted, int, 9, 8)},
};
PLANTED_MAIN(kAll)
