// One kernel for each kind of advice on lanes, arithmetic, registers and blocks, and its twin with the
// advice taken; marked as in planted.cu.
#include "planted.h"

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

// --- arithmetic

template <class Real>
__device__ void weigh(const float* in, float* out) {
  float v = in[thread()];
  for (int i = 0; i < 16; ++i) v = v * Real(0.5) + Real(1.25) * i;  // <- accidental doubles
  out[thread()] = v;
}
__global__ void doubles_bad(const float* in, float* out) { weigh<double>(in, out); }
__global__ void doubles_good(const float* in, float* out) { weigh<float>(in, out); }

__global__ void functions_double_bad(const float* in, float* out) {
  const float v = in[thread()];
  out[thread()] = sin(double(v));  // <- slow functions
}
__global__ void functions_double_good(const float* in, float* out) {
  const float v = in[thread()];
  out[thread()] = sinf(v);
}
__global__ void functions_bad(const float* in, float* out) {
  const float v = in[thread()];
  out[thread()] = powf(v, in[0]);  // <- slow functions
}
__global__ void functions_good(const float* in, float* out) {
  const float v = in[thread()];
  out[thread()] = __powf(v, in[0]);
}
__global__ void functions_square_bad(const float* in, float* out) {
  const float v = in[thread()];
  out[thread()] = pow(v, 2.0f);  // <- slow functions
}
__global__ void functions_square_good(const float* in, float* out) {
  const float v = in[thread()];
  out[thread()] = v * v;
}

// --- registers and blocks

__global__ void local_bad(const int* order, float* out) {
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = float(i * thread());  // <- local memory
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

// Each thread waits for its loads; twice as many threads wait at the same time.
template <int kWords>
__device__ void through_shared(const float* in, float* out) {
  __shared__ float words[kWords];
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) sum += in[thread() + i * kThreads * kBlocks];
  words[threadIdx.x] = sum;
  __syncthreads();
  out[thread()] = words[kThreads - 1 - threadIdx.x];
}
__global__ void occupancy_bad(const float* in, float* out) { through_shared<12 * 1024>(in, out); }
__global__ void occupancy_good(const float* in, float* out) { through_shared<7040>(in, out); }

__device__ void sum_part(const float* in, float* out, int begin, int step) {
  float sum = 0;
  for (int i = begin; i < 132 * 1024; i += step) sum += in[i];
  out[begin] = sum;
}
__global__ void idle_sms_bad(const float* in, float* out) { sum_part(in, out, thread(), 1); }
__global__ void idle_sms_good(const float* in, float* out) { sum_part(in, out, thread(), gridDim.x * blockDim.x); }

int main() {
  constexpr size_t kCount = 1 << 21;
  float* const a = zeros(kCount);
  float* const b = zeros(kCount);
  int* const order = zeros<int>(16);
  divergence_bad<<<kBlocks, kThreads>>>(b);
  divergence_good<<<kBlocks, kThreads>>>(b);
  partial_warp_bad<<<1600, 40>>>(b);
  partial_warp_good<<<2000, 32>>>(b);
  doubles_bad<<<kBlocks, kThreads>>>(a, b);
  doubles_good<<<kBlocks, kThreads>>>(a, b);
  functions_double_bad<<<kBlocks, kThreads>>>(a, b);
  functions_double_good<<<kBlocks, kThreads>>>(a, b);
  functions_bad<<<kBlocks, kThreads>>>(a, b);
  functions_good<<<kBlocks, kThreads>>>(a, b);
  functions_square_bad<<<kBlocks, kThreads>>>(a, b);
  functions_square_good<<<kBlocks, kThreads>>>(a, b);
  local_bad<<<kBlocks, kThreads>>>(order, b);
  local_good<<<kBlocks, kThreads>>>(order, b);
  spills_bad<<<kBlocks, kThreads>>>(a, b);
  spills_good<<<kBlocks, kThreads>>>(a, b);
  occupancy_bad<<<kBlocks, kThreads>>>(a, b);
  occupancy_good<<<kBlocks, kThreads>>>(a, b);
  idle_sms_bad<<<1, 1>>>(a, b);
  idle_sms_good<<<132, 32>>>(a, b);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
