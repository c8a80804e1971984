// 14_graph_loop: a graph that repeats a kernel until the result is good enough, without the host.
//
// Newton's method finds all square roots at once, and nobody knows beforehand how many steps it
// takes. A loop on the host would copy the largest error back after each step and wait for it. Here
// the loop is a node of a graph: its body runs as long as a condition holds, and a kernel in the
// body sets that condition. One launch does it all.
//
// cudaGraphSetConditional is a function of the device runtime: link it with nvcc -rdc=true.
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kBlock = 256;

// One step for every root: x becomes the mean of x and a / x. `worst` collects the largest change,
// relative to the root, as the bits of a float: floats that are not negative compare as integers do.
__global__ void newton_step(const float* a, float* x, int n, unsigned* worst) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float next = 0.5f * (x[i] + a[i] / x[i]);
  atomicMax(worst, __float_as_uint(fabsf(next - x[i]) / next));
  x[i] = next;
}

// Decides, in one thread, whether the loop goes on.
__global__ void decide(cudaGraphConditionalHandle goes_on, unsigned* worst, float tolerance,
                       int* steps) {
  cudaGraphSetConditional(goes_on, __uint_as_float(*worst) > tolerance);
  *worst = 0;
  *steps += 1;
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"n", 100000, 1, 100000000}});
  const int n = args.size(0);
  std::vector<float> numbers(n), roots(n, 1.0f);  // (n); every search starts at 1
  for (int i = 0; i < n; ++i) numbers[i] = 1.0f + 0.25f * float(i);

  float *a = nullptr, *x = nullptr;
  unsigned* worst = nullptr;
  int *steps = nullptr, steps_taken = 0;
  const size_t bytes = numbers.size() * sizeof(float);
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&x, bytes));
  CHECK(cudaMalloc(&worst, sizeof *worst));
  CHECK(cudaMalloc(&steps, sizeof *steps));
  CHECK(cudaMemcpy(a, numbers.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(x, roots.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(worst, 0, sizeof *worst));
  CHECK(cudaMemset(steps, 0, sizeof *steps));

  // A graph with one node: the loop. Its condition is 1 at the start of every launch.
  cudaGraph_t graph;
  cudaGraphConditionalHandle goes_on;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphConditionalHandleCreate(&goes_on, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams loop = {};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = goes_on;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop));

  // Its body is a graph, too, and is filled by capturing what a stream would do.
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t body = loop.conditional.phGraph_out[0];
  CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  newton_step<<<ceil_div(n, kBlock), kBlock, 0, stream>>>(a, x, n, worst);
  decide<<<1, 1, 0, stream>>>(goes_on, worst, 1e-6f, steps);
  CHECK(cudaStreamEndCapture(stream, &body));

  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(roots.data(), x, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&steps_taken, steps, sizeof steps_taken, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  for (void* memory : {(void*)a, (void*)x, (void*)worst, (void*)steps}) CHECK(cudaFree(memory));

  for (int i = 0; i < n; ++i) {
    const double want = std::sqrt(double(numbers[i]));
    // The last step changed nothing that counts; what is left are roundings of three operations.
    if (!is_close(roots[i], want, want * 1e-6))
      return fail("the root of %.9g is %.9g, expected %.9g", numbers[i], roots[i], want);
  }
  printf("%d square roots in one launch of a graph, which went through its loop %d times\n", n,
         steps_taken);
  printf("the largest: the root of %g is %g\n", numbers[n - 1], roots[n - 1]);
  return 0;
}
