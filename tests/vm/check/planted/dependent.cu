// Programmatic dependent launch: a kernel that touches what the one before it uses too early.
#include "planted.h"

constexpr int kCount = 256;

// Writes `out` before or after it lets its dependents begin; what it reads is its own business.
__global__ void produce(const int* in, int* out, int late) {
  const int i = int(threadIdx.x);
  if (!late) out[i] = in[i] + 1;  // BUG missing_wait // BUG late_wait // BUG one_warp_waits // BUG second_of_three // BUG in_a_graph // BUG by_event
  cudaTriggerProgrammaticLaunchCompletion();
  if (late) out[i] = in[i] + 2;  // BUG write_after_trigger
}
__global__ void produce_slowly(const int* in, int* out) {
  cudaTriggerProgrammaticLaunchCompletion();
  out[threadIdx.x] = in[threadIdx.x] + 1;  // BUG early_write
}
__global__ void never_triggers(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

__global__ void missing_wait(const int* in, int* out, int fixed) {
  if (fixed) cudaGridDependencySynchronize();
  out[threadIdx.x] = in[threadIdx.x] * 2;  // BUG missing_wait // BUG in_a_graph // BUG by_event
}
__global__ void late_wait(const int* in, int* out, int fixed) {
  if (fixed) cudaGridDependencySynchronize();
  const int value = in[threadIdx.x];  // BUG late_wait
  cudaGridDependencySynchronize();
  out[threadIdx.x] = value * 2;
}
__global__ void reads_all(const int* in, int* out, int fixed) {
  if (fixed) cudaGridDependencySynchronize();
  out[threadIdx.x] = in[kCount - 1 - threadIdx.x];  // BUG write_after_trigger
}
// The output is the input of the kernel before.
__global__ void early_write(int* in, int fixed) {
  if (fixed) cudaGridDependencySynchronize();
  in[threadIdx.x] = 7;  // BUG early_write
}
// One warp waits for all: that is enough only if the others wait for it.
__global__ void one_warp_waits(const int* in, int* out, int fixed) {
  if (threadIdx.x < 32) cudaGridDependencySynchronize();
  if (fixed) __syncthreads();
  out[threadIdx.x] = in[threadIdx.x] * 2;  // BUG one_warp_waits
}
// Lets the third kernel begin before the first has ended.
__global__ void in_between(int* other) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  other[threadIdx.x] = 1;
}
__global__ void second_of_three(const int* in, int* out, int fixed) {
  if (fixed) cudaGridDependencySynchronize();
  out[threadIdx.x] = in[threadIdx.x] * 2;  // BUG second_of_three
}

template <class... Parameters, class... Arguments>
void launch_in(cudaStream_t stream, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(kCount);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), Arguments... arguments) {
  launch_in(nullptr, kernel, arguments...);
}

const Planted kAll[] = {
    {"missing_wait", "dependent-launch",
     [](int fixed) {
       Array<int> in(kCount), middle(kCount), out(kCount);
       produce<<<1, kCount>>>(in, middle, 0);
       launch(missing_wait, middle.data, out.data, fixed);
     }},
    {"late_wait", "dependent-launch",
     [](int fixed) {
       Array<int> in(kCount), middle(kCount), out(kCount);
       produce<<<1, kCount>>>(in, middle, 0);
       launch(late_wait, middle.data, out.data, fixed);
     }},
    {"write_after_trigger", "dependent-launch",
     [](int fixed) {
       Array<int> in(kCount), middle(kCount), out(kCount);
       produce<<<1, kCount>>>(in, middle, 1);
       launch(reads_all, middle.data, out.data, fixed);
     }},
    {"early_write", "dependent-launch",
     [](int fixed) {
       Array<int> in(kCount), middle(kCount);
       produce_slowly<<<1, kCount>>>(in, middle);
       launch(early_write, in.data, fixed);
     }},
    {"one_warp_waits", "dependent-launch",
     [](int fixed) {
       Array<int> in(kCount), middle(kCount), out(kCount);
       produce<<<1, kCount>>>(in, middle, 0);
       launch(one_warp_waits, middle.data, out.data, fixed);
     }},
    {"second_of_three", "dependent-launch",
     [](int fixed) {
       Array<int> in(kCount), middle(kCount), out(kCount), other(kCount);
       produce<<<1, kCount>>>(in, middle, 0);
       launch(in_between, other.data);
       launch(second_of_three, middle.data, out.data, fixed);
       if (!fixed) return;
       // A kernel that lets nobody begin early is an ordinary one, and so is a launch without the
       // attribute.
       never_triggers<<<1, kCount>>>(in, middle);
       launch(missing_wait, middle.data, out.data, 0);
       produce<<<1, kCount>>>(in, middle, 0);
       missing_wait<<<1, kCount>>>(middle, out, 0);
     }},
    {"in_a_graph", "dependent-launch",
     [](int fixed) {
       Array<int> in(kCount), middle(kCount), out(kCount);
       cudaStream_t stream;
       cudaGraph_t graph;
       cudaGraphExec_t exec;
       cudaStreamCreate(&stream);
       cudaDeviceSynchronize();
       cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
       produce<<<1, kCount, 0, stream>>>(in, middle, 0);
       launch_in(stream, missing_wait, middle.data, out.data, fixed);
       cudaStreamEndCapture(stream, &graph);
       cudaGraphInstantiate(&exec, graph, 0);
       for (int k = 0; k < 2; ++k) cudaGraphLaunch(exec, stream);
       cudaStreamSynchronize(stream);
       cudaGraphExecDestroy(exec);
       cudaGraphDestroy(graph);
       cudaStreamDestroy(stream);
     }},
    {"by_event", "dependent-launch",
     [](int fixed) {
       Array<int> in(kCount), middle(kCount), out(kCount);
       cudaStream_t one, other;
       cudaEvent_t event;
       cudaStreamCreate(&one);
       cudaStreamCreate(&other);
       cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
       cudaDeviceSynchronize();
       cudaLaunchAttribute attribute{};
       attribute.id = cudaLaunchAttributeProgrammaticEvent;
       attribute.val.programmaticEvent.event = event;
       cudaLaunchConfig_t config{};
       config.gridDim = dim3(1);
       config.blockDim = dim3(kCount);
       config.stream = one;
       config.attrs = &attribute;
       config.numAttrs = 1;
       cudaLaunchKernelEx(&config, produce, (const int*)in.data, middle.data, 0);
       cudaStreamWaitEvent(other, event);
       missing_wait<<<1, kCount, 0, other>>>(middle, out, fixed);
       cudaDeviceSynchronize();
       cudaEventDestroy(event);
       cudaStreamDestroy(one);
       cudaStreamDestroy(other);
     }},
};
PLANTED_MAIN(kAll)
