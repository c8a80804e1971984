// Programmatic dependent launch: who may begin when, and what a kernel sees of the one before it.
#include <atomic>
#include <thread>

#include "check.h"

namespace {

constexpr int kCount = 1024, kThreads = 128;
constexpr long long kPatience = 20'000'000'000;  // clocks: some seconds, where nobody comes

enum Who { kNobody, kFirstBlock, kOneThread, kAll };

__device__ void await(volatile int* flag) {
  const long long start = clock64();
  while (*flag == 0 && clock64() - start < kPatience) {
  }
}

// Lets the dependent begin; writes `data` when that one has got as far as it can, or at once.
__global__ void first(int* data, int value, Who who, volatile int* begun, bool waits) {
  if (who == kAll || (who == kOneThread && threadIdx.x == 0) ||
      (who == kFirstBlock && blockIdx.x == 0))
    cudaTriggerProgrammaticLaunchCompletion();
  if (waits) await(begun);
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) data[i] = value;
}

// One block: what it finds at its beginning, and behind the wait. The first kernel goes on when
// this one waits, or when it has read everything.
__global__ void second(const volatile int* data, int* early, int* late, int* begun, bool waits) {
  for (int i = int(threadIdx.x); i < kCount; i += kThreads) early[i] = data[i];
  __syncthreads();
  if (threadIdx.x == 0 && waits) *(volatile int*)begun = 1;
  if (waits) cudaGridDependencySynchronize();
  for (int i = int(threadIdx.x); i < kCount; i += kThreads) late[i] = data[i];
  __syncthreads();
  if (threadIdx.x == 0) *(volatile int*)begun = 1;
}

__global__ void add(const int* in, int* out, int value) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kCount) out[i] = in[i] + value;
}

template <class... Parameters, class... Arguments>
cudaError_t launch(cudaStream_t stream, bool early, int blocks, void (*kernel)(Parameters...),
                   Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = early;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(blocks));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

// Work that is there when the device comes to it.
struct Gate {
  std::atomic<bool> open{false};
  explicit Gate(cudaStream_t stream) {
    RIDGE_CUDA(cudaLaunchHostFunc(
                   stream,
                   [](void* gate) {
                     while (!static_cast<Gate*>(gate)->open) std::this_thread::yield();
                   },
                   this),
               cudaSuccess);
  }
};

struct Arrays {
  int *data, *early, *late, *begun;
  Arrays() {
    RIDGE_CUDA(cudaMalloc(&data, kCount * sizeof(int)), cudaSuccess);
    RIDGE_CUDA(cudaMalloc(&early, kCount * sizeof(int)), cudaSuccess);
    RIDGE_CUDA(cudaMalloc(&late, kCount * sizeof(int)), cudaSuccess);
    RIDGE_CUDA(cudaMalloc(&begun, sizeof(int)), cudaSuccess);
    clear();
  }
  ~Arrays() {
    for (int* p : {data, early, late, begun}) RIDGE_CUDA(cudaFree(p), cudaSuccess);
  }
  void clear() {
    for (int* p : {data, early, late})
      RIDGE_CUDA(cudaMemset(p, 0, kCount * sizeof(int)), cudaSuccess);
    RIDGE_CUDA(cudaMemset(begun, 0, sizeof(int)), cudaSuccess);
    RIDGE_CUDA(cudaDeviceSynchronize(), cudaSuccess);
  }
  static int sum(const int* p) {
    int host[kCount], total = 0;
    RIDGE_CUDA(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    for (const int value : host) total += value;
    return total;
  }
};

struct Case {
  Who who;
  bool attribute, waits;
  bool overlaps;  // the second kernel begins before the first has written; else after its end
  bool late;      // and sees it at its end
};

void run(cudaStream_t stream, Arrays& a, const Case& c, int blocks) {
  a.clear();
  Gate gate(stream);
  first<<<unsigned(blocks), kThreads, 0, stream>>>(a.data, 1, c.who, a.begun, c.overlaps);
  RIDGE_CUDA(cudaGetLastError(), cudaSuccess);
  RIDGE_CUDA(launch(stream, c.attribute, 1, second, a.data, a.early, a.late, a.begun, c.waits),
             cudaSuccess);
  gate.open = true;
  RIDGE_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
  RIDGE_CHECK(Arrays::sum(a.data) == (kCount));
  if (c.who != kFirstBlock) RIDGE_CHECK(Arrays::sum(a.early) == (c.overlaps ? 0 : kCount));
  RIDGE_CHECK(Arrays::sum(a.late) == (c.late ? kCount : 0));
}

void test_who_begins_when(cudaStream_t stream) {
  Arrays a;
  const Case cases[] = {
      {kNobody, true, true, false, true},     {kNobody, true, false, false, true},
      {kFirstBlock, true, true, false, true}, {kOneThread, true, true, true, true},
      {kAll, true, true, true, true},         {kAll, true, false, true, false},
      {kAll, false, true, false, true},       {kAll, false, false, false, true},
  };
  for (const Case& c : cases) run(stream, a, c, kCount / kThreads);
}

// Every kernel of a long chain waits; each sees what the one before it has written.
void test_chain(cudaStream_t stream) {
  constexpr int kLength = 200;
  Arrays a;
  for (int k = 0; k < kLength; ++k)
    RIDGE_CUDA(launch(stream, true, kCount / kThreads, add, k % 2 ? a.late : a.data,
                      k % 2 ? a.data : a.late, 1),
               cudaSuccess);
  RIDGE_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
  RIDGE_CHECK(Arrays::sum(a.data) == (kLength * kCount));
}

// More blocks than can run at once, in both.
void test_many_blocks(cudaStream_t stream) {
  Arrays a;
  constexpr int kBlocks = 3000;
  Gate gate(stream);
  RIDGE_CUDA(launch(stream, false, kBlocks, add, a.data, a.late, 1), cudaSuccess);
  RIDGE_CUDA(launch(stream, true, kBlocks, add, a.late, a.data, 1), cudaSuccess);
  RIDGE_CUDA(launch(stream, true, kBlocks, add, a.data, a.early, 1), cudaSuccess);
  gate.open = true;
  RIDGE_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
  RIDGE_CHECK(Arrays::sum(a.early) == (3 * kCount));
}

// What stands between two kernels of a stream keeps its place.
void test_between(cudaStream_t stream) {
  Arrays a;
  Gate gate(stream);
  RIDGE_CUDA(launch(stream, true, 8, add, a.data, a.data, 1), cudaSuccess);
  RIDGE_CUDA(
      cudaMemcpyAsync(a.late, a.data, kCount * sizeof(int), cudaMemcpyDeviceToDevice, stream),
      cudaSuccess);
  RIDGE_CUDA(launch(stream, true, 8, add, a.late, a.early, 1), cudaSuccess);
  RIDGE_CUDA(cudaMemsetAsync(a.data, 0, kCount * sizeof(int), stream), cudaSuccess);
  gate.open = true;
  RIDGE_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
  RIDGE_CHECK(Arrays::sum(a.early) == (2 * kCount));
  RIDGE_CHECK(Arrays::sum(a.data) == (0));
}

// What a captured launch looks like, and that it does the same.
void test_captured(cudaStream_t stream) {
  Arrays a;
  constexpr int kBlocks = kCount / kThreads;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  RIDGE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  first<<<kBlocks, kThreads, 0, stream>>>(a.data, 1, kOneThread, a.begun, true);
  RIDGE_CUDA(launch(stream, true, 1, second, a.data, a.early, a.late, a.begun, true), cudaSuccess);
  RIDGE_CUDA(launch(stream, true, kBlocks, add, a.late, a.data, 4), cudaSuccess);
  RIDGE_CUDA(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  size_t count = 2;
  cudaGraphNode_t from[2], to[2];
  cudaGraphEdgeData kinds[2];
  RIDGE_CUDA(cudaGraphGetEdges(graph, from, to, nullptr, &count), cudaErrorLossyQuery);
  RIDGE_CUDA(cudaGraphGetEdges(graph, from, to, kinds, &count), cudaSuccess);
  RIDGE_CHECK(count == 2);
  for (const cudaGraphEdgeData& kind : kinds)
    RIDGE_CHECK(kind.from_port == cudaGraphKernelNodePortProgrammatic && kind.to_port == 0 &&
                kind.type == cudaGraphDependencyTypeProgrammatic);
  RIDGE_CUDA(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int k = 0; k < 3; ++k) {
    a.clear();
    RIDGE_CUDA(cudaGraphLaunch(exec, stream), cudaSuccess);
    RIDGE_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
    RIDGE_CHECK(Arrays::sum(a.early) == 0);
    RIDGE_CHECK(Arrays::sum(a.late) == kCount);
    RIDGE_CHECK(Arrays::sum(a.data) == 5 * kCount);
  }
  RIDGE_CUDA(cudaGraphExecDestroy(exec), cudaSuccess);
  RIDGE_CUDA(cudaGraphDestroy(graph), cudaSuccess);
}

// Edges that a program adds itself; only kernels have such ports.
void test_edges(cudaStream_t stream) {
  Arrays a;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t nodes[2], fill;
  RIDGE_CUDA(cudaGraphCreate(&graph, 0), cudaSuccess);
  const int* in[] = {a.data, a.late};
  int *out[] = {a.late, a.early}, value = 3;
  for (int k = 0; k < 2; ++k) {
    void* arguments[] = {&in[k], &out[k], &value};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(add);
    params.gridDim = dim3(kCount / kThreads);
    params.blockDim = dim3(kThreads);
    params.kernelParams = arguments;
    RIDGE_CUDA(cudaGraphAddKernelNode(&nodes[k], graph, nullptr, 0, &params), cudaSuccess);
  }
  cudaMemsetParams zeros{};
  zeros.dst = a.begun;
  zeros.elementSize = 4;
  zeros.width = 1;
  zeros.height = 1;
  RIDGE_CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zeros), cudaSuccess);
  cudaGraphEdgeData kind{};
  kind.from_port = cudaGraphKernelNodePortProgrammatic;
  RIDGE_CUDA(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], &kind, 1),
             cudaErrorInvalidValue);  // the port needs the type
  kind.type = cudaGraphDependencyTypeProgrammatic;
  RIDGE_CUDA(cudaGraphAddDependencies(graph, &nodes[0], &fill, &kind, 1), cudaErrorInvalidValue);
  RIDGE_CUDA(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], &kind, 1), cudaSuccess);
  cudaGraphEdgeData seen{};
  cudaGraphNode_t before;
  size_t count = 1;
  RIDGE_CUDA(cudaGraphNodeGetDependencies(nodes[1], &before, &seen, &count), cudaSuccess);
  RIDGE_CHECK(before == nodes[0] && seen.from_port == kind.from_port && seen.type == kind.type);
  RIDGE_CUDA(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  RIDGE_CUDA(cudaGraphLaunch(exec, stream), cudaSuccess);
  RIDGE_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
  RIDGE_CHECK(Arrays::sum(a.early) == 6 * kCount);
  RIDGE_CUDA(cudaGraphExecDestroy(exec), cudaSuccess);
  RIDGE_CUDA(cudaGraphDestroy(graph), cudaSuccess);
}

// A kernel of another stream that waits for a programmatic event; a copy waits for the end.
void test_event(cudaStream_t stream) {
  Arrays a;
  constexpr int kBlocks = kCount / kThreads;
  cudaStream_t other;
  cudaEvent_t event;
  RIDGE_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  RIDGE_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  attribute.val.programmaticEvent.event = event;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  Gate gate(stream);
  RIDGE_CUDA(cudaLaunchKernelEx(&config, first, a.data, 1, kAll, (volatile int*)a.begun, true),
             cudaSuccess);
  RIDGE_CUDA(cudaStreamWaitEvent(other, event), cudaSuccess);
  RIDGE_CUDA(launch(other, false, 1, second, a.data, a.early, a.late, a.begun, true), cudaSuccess);
  gate.open = true;
  RIDGE_CUDA(cudaStreamSynchronize(other), cudaSuccess);
  RIDGE_CHECK(Arrays::sum(a.early) == 0);
  RIDGE_CHECK(Arrays::sum(a.late) == kCount);
  RIDGE_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
  RIDGE_CUDA(cudaLaunchKernelEx(&config, first, a.data, 2, kAll, (volatile int*)a.begun, false),
             cudaSuccess);
  RIDGE_CUDA(cudaEventSynchronize(event), cudaSuccess);
  RIDGE_CUDA(cudaStreamSynchronize(stream), cudaSuccess);
  RIDGE_CHECK(Arrays::sum(a.data) == 2 * kCount);
  RIDGE_CUDA(cudaEventDestroy(event), cudaSuccess);
  RIDGE_CUDA(cudaStreamDestroy(other), cudaSuccess);
}

}  // namespace

int main() {
  cudaStream_t stream;
  RIDGE_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  test_who_begins_when(stream);
  test_chain(stream);
  test_many_blocks(stream);
  test_between(stream);
  test_chain(nullptr);
  test_captured(stream);
  test_edges(stream);
  test_event(stream);
  RIDGE_CUDA(cudaStreamDestroy(stream), cudaSuccess);
  if (failures == 0) std::printf("all right\n");
  return failures != 0;
}
