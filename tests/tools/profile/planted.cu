// One kernel for each kind of advice that `ridge profile` gives, and its twin with the advice taken.
// A comment `// <- kind` marks the line that the advice must name; profile_test.py reads them.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                \
  do {                                                             \
    const cudaError_t error = (call);                              \
    if (error != cudaSuccess) {                                    \
      std::fprintf(stderr, "%s\n", cudaGetErrorString(error));     \
      std::exit(1);                                                \
    }                                                              \
  } while (0)

constexpr int kSide = 128;  // of a square matrix
constexpr int kBlocks = 256, kThreads = 128;

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// --- global memory

__global__ void uncoalesced_bad(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  const float v = in[y * kSide + x];
  out[x * kSide + y] = v;  // <- uncoalesced
}
__global__ void uncoalesced_good(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  const float v = in[y * kSide + x];
  out[y * kSide + x] = v;
}

struct Particle {
  float x, y, z, mass;
};
__global__ void unused_bytes_bad(const Particle* in, float* out) {
  const float x = in[thread()].x;  // <- unused bytes
  out[thread()] = x;
}
__global__ void unused_bytes_good(const float* xs, float* out) {
  const float x = xs[thread()];
  out[thread()] = x;
}

__global__ void misaligned_bad(const float* in, float* out) {
  const float v = in[thread() + 3];  // <- misaligned
  out[thread()] = v;
}
__global__ void misaligned_good(const float* in, float* out) {
  const float v = in[thread() + 32];
  out[thread()] = v;
}

// A product of matrices: each thread walks a row of a.
__global__ void redundant_bad(const float* a, const float* b, float* c) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < kSide; ++k) {
    const float left = a[y * kSide + k];  // <- redundant loads
    sum += left * b[k * kSide + x];
  }
  c[y * kSide + x] = sum;
}
__global__ void redundant_good(const float* a, const float* b, float* c) {
  __shared__ float left[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < kSide; k += 32) {
    left[threadIdx.y][threadIdx.x] = a[y * kSide + k + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += left[threadIdx.y][i] * b[(k + i) * kSide + x];
    __syncthreads();
  }
  c[y * kSide + x] = sum;
}

// --- shared memory

template <class T, int kRow>
__device__ void turn(const T* in, T* out) {
  __shared__ T tile[32][kRow];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * kSide + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  out[y * kSide + x] = tile[threadIdx.x][threadIdx.y];  // <- bank conflict
}
__global__ void bank_conflict_bad(const float* in, float* out) { turn<float, 32>(in, out); }
__global__ void bank_conflict_good(const float* in, float* out) { turn<float, 33>(in, out); }
__global__ void bank_conflict_wide_bad(const double* in, double* out) { turn<double, 32>(in, out); }
__global__ void bank_conflict_wide_good(const double* in, double* out) { turn<double, 33>(in, out); }

// Neighbours two words apart: no row to pad, but the index can be stretched.
__device__ int plain(int i) { return i; }
__device__ int stretched(int i) { return i + i / 32; }
template <int (*kAt)(int)>
__device__ void pick_even(float* out) {
  __shared__ float words[512];
  for (int i = threadIdx.x; i < 256; i += kThreads) words[kAt(i)] = float(i);
  __syncthreads();
  out[thread()] = words[kAt(2 * threadIdx.x)];  // <- bank conflict
}
__global__ void bank_conflict_stride_bad(float* out) { pick_even<plain>(out); }
__global__ void bank_conflict_stride_good(float* out) { pick_even<stretched>(out); }

// --- atomics

__global__ void atomic_bad(const float* in, float* out) {
  atomicAdd(out, in[thread()]);  // <- atomics in turns
}
__global__ void atomic_good(const float* in, float* out) {
  float sum = in[thread()];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// --- lanes

__device__ float work(float v, int steps) {
#pragma unroll 1
  for (int i = 0; i < steps; ++i) v = v * 1.5f + 0.5f;
  return v;
}
__global__ void divergence_bad(float* out) {
  float v = float(threadIdx.x);
  if (threadIdx.x % 2) v = work(v, 40);  // <- divergence
  else v = work(v + 1, 30) - 1;
  out[thread()] = v;
}
__global__ void divergence_good(float* out) {
  float v = float(threadIdx.x);
  if (threadIdx.x / 32 % 2) v = work(v, 40);
  else v = work(v + 1, 30) - 1;
  out[thread()] = v;
}

__global__ void partial_warp_bad(float* out) { out[thread()] = work(1.0f, 20); }
__global__ void partial_warp_good(float* out) { out[thread()] = work(1.0f, 20); }

// --- registers and blocks

__global__ void local_bad(const int* order, float* out) {
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = float(i * thread());
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += values[order[i]];  // <- local memory
  out[thread()] = sum;
}
__global__ void local_good(const int*, float* out) {
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = float(i * thread());
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += values[15 - i];
  out[thread()] = sum;
}

__device__ void many_values(const float* in, float* out) {
  float values[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) values[i] = in[thread() + i * 32];
#pragma unroll 1
  for (int round = 0; round < 4; ++round)
#pragma unroll
    for (int i = 0; i < 48; ++i) values[i] = values[i] * values[(i + 7) % 48] + 1;
#pragma unroll
  for (int i = 0; i < 48; ++i) out[thread() + i * 32] = values[i];
}
__global__ void __launch_bounds__(1024, 2) spills_bad(const float* in, float* out) { many_values(in, out); }
__global__ void __launch_bounds__(128) spills_good(const float* in, float* out) { many_values(in, out); }

template <int kWords>
__device__ void through_shared(float* out) {
  __shared__ float words[kWords];
  words[threadIdx.x] = float(threadIdx.x);
  __syncthreads();
  out[thread()] = words[kThreads - 1 - threadIdx.x];
}
__global__ void occupancy_bad(float* out) { through_shared<12 * 1024>(out); }
__global__ void occupancy_good(float* out) { through_shared<7040>(out); }

__global__ void idle_sms_bad(float* out) { out[thread()] = 1; }
__global__ void idle_sms_good(float* out) { out[thread()] = 1; }

int main() {
  float *a, *b, *c;
  int* order;
  const size_t bytes = 4 << 20;
  for (float** p : {&a, &b, &c}) {
    CHECK(cudaMalloc(p, bytes));
    CHECK(cudaMemset(*p, 0, bytes));
  }
  CHECK(cudaMalloc(&order, 64));
  CHECK(cudaMemset(order, 0, 64));
  const dim3 tiles(kSide / 32, kSide / 32), tile(32, 32);
  uncoalesced_bad<<<tiles, tile>>>(a, b);
  uncoalesced_good<<<tiles, tile>>>(a, b);
  unused_bytes_bad<<<kBlocks, kThreads>>>(reinterpret_cast<Particle*>(a), b);
  unused_bytes_good<<<kBlocks, kThreads>>>(a, b);
  misaligned_bad<<<kBlocks, kThreads>>>(a, b);
  misaligned_good<<<kBlocks, kThreads>>>(a, b);
  redundant_bad<<<tiles, tile>>>(a, b, c);
  redundant_good<<<tiles, tile>>>(a, b, c);
  bank_conflict_bad<<<tiles, tile>>>(a, b);
  bank_conflict_good<<<tiles, tile>>>(a, b);
  bank_conflict_wide_bad<<<tiles, tile>>>(reinterpret_cast<double*>(a), reinterpret_cast<double*>(b));
  bank_conflict_wide_good<<<tiles, tile>>>(reinterpret_cast<double*>(a), reinterpret_cast<double*>(b));
  bank_conflict_stride_bad<<<kBlocks, kThreads>>>(b);
  bank_conflict_stride_good<<<kBlocks, kThreads>>>(b);
  atomic_bad<<<kBlocks, kThreads>>>(a, b);
  atomic_good<<<kBlocks, kThreads>>>(a, b);
  divergence_bad<<<kBlocks, kThreads>>>(b);
  divergence_good<<<kBlocks, kThreads>>>(b);
  partial_warp_bad<<<160, 40>>>(b);
  partial_warp_good<<<200, 32>>>(b);
  local_bad<<<kBlocks, kThreads>>>(order, b);
  local_good<<<kBlocks, kThreads>>>(order, b);
  spills_bad<<<kBlocks, kThreads>>>(a, b);
  spills_good<<<kBlocks, kThreads>>>(a, b);
  occupancy_bad<<<kBlocks, kThreads>>>(b);
  occupancy_good<<<kBlocks, kThreads>>>(b);
  idle_sms_bad<<<1, kThreads>>>(b);
  idle_sms_good<<<132, kThreads>>>(b);
  CHECK(cudaDeviceSynchronize());
  for (float* p : {a, b, c}) CHECK(cudaFree(p));
  CHECK(cudaFree(order));
  return 0;
}
