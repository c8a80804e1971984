// Pinned and managed memory used by host and device in turn, with everything that orders them.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

__global__ void fill(int* d, int n, int value) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) d[i] = value + i;
}
__global__ void answer(volatile int* question, volatile int* reply, int* data) {
  while (!*question) {
  }
  data[0] = *question + 1;
  __threadfence_system();
  *reply = 1;
}
__managed__ int counter;
__global__ void count() { atomicAdd(&counter, 1); }

int wrong = 0;
void expect(int got, int wanted, const char* what) {
  if (got == wanted) return;
  std::printf("%s: %d, not %d\n", what, got, wanted);
  ++wrong;
}

// The host and a running kernel speak to each other.
void conversation() {
  int* words;
  cudaMallocHost(&words, 3 * 4096);
  std::memset(words, 0, 3 * 4096);
  volatile int *question = words, *reply = words + 1024, *data = words + 2048;
  answer<<<1, 1>>>(words, words + 1024, words + 2048);
  *question = 41;
  while (!*reply) {
  }
  expect(data[0], 42, "conversation");
  cudaDeviceSynchronize();
  cudaFreeHost(words);
}

// Two buffers: the host works on the first, and a stream fills the second.
void two_buffers() {
  constexpr int kCount = 3000, kRounds = 6;
  int *device, *host[2];
  cudaEvent_t done[2];
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&device, kCount * sizeof(int));
  for (int k = 0; k < 2; ++k) {
    cudaMallocHost(&host[k], kCount * sizeof(int));
    cudaEventCreate(&done[k]);
  }
  for (int round = 0; round <= kRounds; ++round) {
    if (round < kRounds) {
      fill<<<12, 256, 0, stream>>>(device, kCount, round);
      cudaMemcpyAsync(host[round % 2], device, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream);
      cudaEventRecord(done[round % 2], stream);
    }
    if (!round) continue;
    const int last = (round - 1) % 2;
    if (round % 2) cudaEventSynchronize(done[last]);
    else
      while (cudaEventQuery(done[last]) == cudaErrorNotReady) {
      }
    for (int i = 0; i < kCount; ++i) expect(host[last][i], round - 1 + i, "two buffers");
  }
  cudaStreamDestroy(stream);
  for (int k = 0; k < 2; ++k) {
    cudaFreeHost(host[k]);
    cudaEventDestroy(done[k]);
  }
  cudaFree(device);
}

// A host function of the stream reads what comes before it there.
void host_function() {
  int* managed;
  cudaMallocManaged(&managed, 4096);
  fill<<<4, 256>>>(managed, 1024, 5);
  cudaLaunchHostFunc(
      nullptr, [](void* p) { static_cast<int*>(p)[7] += 100; }, managed);
  fill<<<1, 4>>>(managed, 4, 0);
  cudaStreamSynchronize(nullptr);
  expect(managed[7], 112, "host function");
  cudaFree(managed);
}

// Other managed memory is the host's own while a kernel runs, for system calls, too.
void other_memory() {
  int *used, *own;
  cudaMallocManaged(&used, 256);
  cudaMallocManaged(&own, 256);
  fill<<<1, 64>>>(used, 64, 1);
  for (int i = 0; i < 64; ++i) own[i] = i;
  int ends[2];
  if (pipe(ends)) return;
  expect(int(write(ends[1], own, 256)), 256, "write to a pipe");
  close(ends[0]);
  close(ends[1]);
  std::thread([] { cudaDeviceSynchronize(); }).join();  // another thread waits
  expect(used[63], 64, "other memory");
  used[63] = own[63];
  cudaFree(used);
  cudaFree(own);
}

// Waiting of every kind.
void waits() {
  int* managed;
  cudaMallocManaged(&managed, 256);
  int copied[64];
  fill<<<1, 64>>>(managed, 64, 1);
  cudaMemcpy(copied, managed, 256, cudaMemcpyDeviceToHost);
  expect(managed[3], 4, "copy that waits");
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  fill<<<1, 64, 0, stream>>>(managed, 64, 2);
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  expect(managed[3], 5, "query");
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  fill<<<1, 64, 0, stream>>>(managed, 64, 3);
  count<<<1, 32, 0, stream>>>();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int k = 0; k < 3; ++k) {
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    expect(managed[3], 6, "graph");
    expect(counter, 32 * (k + 1), "counter");
    managed[3] = 0;
  }
  fill<<<1, 64, 0, stream>>>(managed, 64, 4);
  cudaStreamDestroy(stream);
  int* scratch;
  cudaMalloc(&scratch, 4);
  cudaFree(scratch);  // which waits for the device
  expect(managed[3], 7, "free that waits");
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaFree(managed);
}

int main() {
  conversation();
  two_buffers();
  host_function();
  other_memory();
  waits();
  std::puts(wrong ? "wrong" : "right");
  return wrong != 0;
}
