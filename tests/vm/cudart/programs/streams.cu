// A pipeline over several streams: copies in, kernel, copies out, joined by events; timed, with a
// callback at the end.
#include "check.h"

__global__ void scale(float* data, int n, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= by;
}
__global__ void sum(const float* data, int n, float* out) {
  float total = 0;
  for (int i = 0; i < n; ++i) total += data[i];
  *out = total;
}

int main() {
  constexpr int kStreams = 4, kPart = 512, kAll = kStreams * kPart;
  float *host, *device, *total, result = 0;
  RIDGE_CUDA(cudaMallocHost(&host, kAll * sizeof(float)), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&device, kAll * sizeof(float)), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&total, sizeof(float)), cudaSuccess);
  for (int i = 0; i < kAll; ++i) host[i] = float(i % 7);

  cudaStream_t streams[kStreams], last;
  cudaEvent_t done[kStreams], start, stop;
  RIDGE_CUDA(cudaEventCreate(&start), cudaSuccess);
  RIDGE_CUDA(cudaEventCreate(&stop), cudaSuccess);
  RIDGE_CUDA(cudaStreamCreateWithFlags(&last, cudaStreamNonBlocking), cudaSuccess);
  RIDGE_CUDA(cudaEventRecord(start, last), cudaSuccess);
  for (int s = 0; s < kStreams; ++s) {
    RIDGE_CUDA(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking), cudaSuccess);
    RIDGE_CUDA(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming), cudaSuccess);
    float* part = device + s * kPart;
    cudaMemcpyAsync(part, host + s * kPart, kPart * sizeof(float), cudaMemcpyHostToDevice,
                    streams[s]);
    scale<<<kPart / 128, 128, 0, streams[s]>>>(part, kPart, float(s + 1));
    RIDGE_CUDA(cudaEventRecord(done[s], streams[s]), cudaSuccess);
    RIDGE_CUDA(cudaStreamWaitEvent(last, done[s]), cudaSuccess);
  }
  sum<<<1, 1, 0, last>>>(device, kAll, total);
  RIDGE_CUDA(cudaMemcpyAsync(&result, total, sizeof result, cudaMemcpyDeviceToHost, last),
             cudaSuccess);
  RIDGE_CUDA(cudaEventRecord(stop, last), cudaSuccess);
  int called = 0;
  RIDGE_CUDA(cudaLaunchHostFunc(
                 last, [](void* flag) { *static_cast<int*>(flag) = 1; }, &called),
             cudaSuccess);
  RIDGE_CUDA(cudaStreamSynchronize(last), cudaSuccess);
  RIDGE_CHECK(called == 1);

  float expected = 0, ms = -1;
  for (int i = 0; i < kAll; ++i) expected += float(i % 7) * float(i / kPart + 1);
  RIDGE_CHECK(result == expected);
  RIDGE_CUDA(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  RIDGE_CHECK(ms > 0);
  RIDGE_CUDA(cudaEventElapsedTime(&ms, start, done[0]), cudaErrorInvalidResourceHandle);
  for (cudaStream_t stream : streams) RIDGE_CUDA(cudaStreamDestroy(stream), cudaSuccess);
  return failures != 0;
}
