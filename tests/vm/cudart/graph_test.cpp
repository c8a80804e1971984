// Graphs, made by hand and by capture. The codes are those an H200 gave for the same calls.
#include <algorithm>
#include <cstring>
#include <thread>

#include "runtime_test.h"

namespace ridge::vm::cudart {
namespace {

using Names = std::vector<std::string>;

class GraphTest : public RuntimeTest {
 protected:
  void SetUp() override {
    cudaStreamCreate(&s_);
    cudaStreamCreate(&t_);
    cudaMalloc(reinterpret_cast<void**>(&p_), 64);
  }
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaStreamBeginCapture(s_, mode), cudaSuccess);
  }
  cudaError_t end() {
    graph_ = nullptr;
    const cudaError_t error = cudaStreamEndCapture(s_, &graph_);
    EXPECT_EQ(graph_ == nullptr, error != cudaSuccess);
    return error;
  }
  std::vector<cudaGraphNodeType> types(cudaGraph_t graph) {
    size_t count = 0;
    cudaGraphGetNodes(graph, nullptr, &count);
    std::vector<cudaGraphNode_t> nodes(count);
    cudaGraphGetNodes(graph, nodes.data(), &count);
    std::vector<cudaGraphNodeType> result(count);
    for (size_t i = 0; i < count; ++i) cudaGraphNodeGetType(nodes[i], &result[i]);
    return result;
  }
  size_t edges(cudaGraph_t graph) {
    size_t count = 0;
    cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count);
    return count;
  }
  cudaStream_t s_ = nullptr, t_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  int* p_ = nullptr;
  Trace trace_;
};

TEST_F(GraphTest, CapturedWorkRunsWhenLaunched) {
  const TestKernel a("a", trace_.body("a"));
  int value = 7, back = 0;
  begin();
  EXPECT_EQ(a.launch(s_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(p_, 0, 64, s_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(p_, &value, 4, cudaMemcpyHostToDevice, s_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(&back, p_, 4, cudaMemcpyDeviceToHost, s_), cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(
                s_, [](void* t) { static_cast<Trace*>(t)->add("host"); }, &trace_),
            cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_TRUE(trace_.events().empty());
  EXPECT_EQ(types(graph_),
            (std::vector<cudaGraphNodeType>{cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemset,
                                            cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemcpy,
                                            cudaGraphNodeTypeHost}));
  EXPECT_EQ(edges(graph_), 4u);
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);  // the executable one lives on
  value = 9;                                         // a graph reads host memory when it runs
  EXPECT_EQ(cudaGraphLaunch(exec, s_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, s_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(s_), cudaSuccess);
  EXPECT_EQ(trace_.events(), (Names{"a", "host", "a", "host"}));
  EXPECT_EQ(back, 9);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(nullptr, s_), cudaErrorInvalidValue);
}

TEST_F(GraphTest, EventsForkAndJoinACapture) {
  const TestKernel a("a", trace_.body("a")), b("b", trace_.body("b")), c("c", trace_.body("c"));
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  begin();
  a.launch(s_);
  EXPECT_EQ(cudaEventRecord(fork, s_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(t_, fork, 0), cudaSuccess);
  b.launch(t_);
  cudaStreamCaptureStatus status;
  EXPECT_EQ(cudaStreamIsCapturing(t_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_EQ(cudaEventRecord(join, t_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(s_, join, 0), cudaSuccess);
  c.launch(s_);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(types(graph_).size(), 3u);
  EXPECT_EQ(edges(graph_), 3u);                            // a-b, a-c, b-c
  EXPECT_EQ(cudaEventQuery(join), cudaErrorInvalidValue);  // it belongs to a capture that is over
  EXPECT_EQ(cudaStreamIsCapturing(t_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);

  begin();
  cudaEventRecord(fork, s_);
  cudaStreamWaitEvent(t_, fork, 0);
  b.launch(t_);
  EXPECT_EQ(end(), cudaErrorStreamCaptureUnjoined);
}

TEST_F(GraphTest, CallsThatEndACapture) {
  const TestKernel a("a");
  void* q = nullptr;
  char host[4] = {};
  cudaEvent_t event;
  cudaEventCreate(&event);
  const auto both = [&](cudaError_t got, cudaError_t expected, cudaStreamCaptureMode, int line) {
    EXPECT_EQ(got, expected) << "line " << line;
    EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated) << "line " << line;
  };
  const auto global = cudaStreamCaptureModeGlobal, relaxed = cudaStreamCaptureModeRelaxed;
#define RIDGE_INVALIDATES(mode, call, code) \
  begin(mode);                              \
  a.launch(s_);                             \
  both(call, code, mode, __LINE__)
  RIDGE_INVALIDATES(global, cudaStreamSynchronize(s_), cudaErrorStreamCaptureUnsupported);
  RIDGE_INVALIDATES(global, cudaStreamQuery(s_), cudaErrorStreamCaptureUnsupported);
  RIDGE_INVALIDATES(global, cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  RIDGE_INVALIDATES(relaxed, cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  RIDGE_INVALIDATES(global, cudaMalloc(&q, 4), cudaErrorStreamCaptureUnsupported);
  RIDGE_INVALIDATES(global, cudaFree(q), cudaErrorStreamCaptureUnsupported);
  RIDGE_INVALIDATES(global, cudaMemcpy(p_, host, 4, cudaMemcpyHostToDevice),
                    cudaErrorStreamCaptureImplicit);
  RIDGE_INVALIDATES(global, cudaMemset(p_, 0, 4), cudaErrorStreamCaptureImplicit);
  RIDGE_INVALIDATES(global, a.launch(nullptr), cudaErrorStreamCaptureImplicit);
  RIDGE_INVALIDATES(global, cudaStreamSynchronize(t_), cudaErrorStreamCaptureUnsupported);
  RIDGE_INVALIDATES(global, cudaStreamSynchronize(nullptr), cudaErrorStreamCaptureImplicit);
  RIDGE_INVALIDATES(relaxed, cudaStreamSynchronize(nullptr), cudaErrorStreamCaptureImplicit);
  RIDGE_INVALIDATES(global, a.launch(s_, 1, 5000), cudaErrorInvalidValue);
  RIDGE_INVALIDATES(global, (cudaEventRecord(event, s_), cudaEventQuery(event)),
                    cudaErrorCapturedEvent);
  RIDGE_INVALIDATES(global, (cudaEventRecord(event, s_), cudaStreamWaitEvent(nullptr, event, 0)),
                    cudaErrorStreamCaptureImplicit);
  cudaEventRecord(event, t_);
  RIDGE_INVALIDATES(global, cudaStreamWaitEvent(s_, event, 0), cudaErrorStreamCaptureIsolation);
#undef RIDGE_INVALIDATES
}

TEST_F(GraphTest, WhatACaptureLeavesAlone) {
  const TestKernel a("a");
  void* q = nullptr;
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaMalloc(&q, 4), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(t_), cudaSuccess);
  EXPECT_EQ(end(), cudaSuccess);
  begin(cudaStreamCaptureModeThreadLocal);
  std::thread([&] { EXPECT_EQ(cudaMalloc(&q, 4), cudaSuccess); }).join();
  EXPECT_EQ(a.launch(t_), cudaSuccess);  // another stream just runs
  EXPECT_EQ(end(), cudaSuccess);
  begin();
  std::thread([&] { EXPECT_EQ(cudaMalloc(&q, 4), cudaErrorStreamCaptureUnsupported); }).join();
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(GraphTest, BeginningAndEnding) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(s_, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamBeginCapture(s_, cudaStreamCaptureMode(9)), cudaErrorInvalidValue);
  begin();
  EXPECT_EQ(cudaStreamEndCapture(t_, &graph), cudaErrorIllegalState);
  EXPECT_EQ(end(), cudaSuccess);
  begin();
  std::thread([&] {
    EXPECT_EQ(cudaStreamEndCapture(s_, &graph), cudaErrorStreamCaptureWrongThread);
  }).join();
  EXPECT_EQ(end(), cudaErrorIllegalState);
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(s_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  EXPECT_EQ(end(), cudaSuccess);
}

TEST_F(GraphTest, MadeByHand) {
  int by = 3;
  const TestKernel add("add params=8,4", [](const Launch& launch) {
    int *p, by;
    std::memcpy(&p, launch.params.data(), 8);
    std::memcpy(&by, launch.params.data() + 8, 4);
    *p += by;
    return Fault{};
  });
  void* arguments[] = {&p_, &by};
  cudaKernelNodeParams kernel{};
  kernel.func = const_cast<void*>(add.handle());
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  cudaMemsetParams fill{};
  fill.dst = p_;
  fill.elementSize = 4;
  fill.value = 7;
  fill.width = 16;
  fill.height = 1;
  int out[16] = {};
  cudaGraphNode_t a, b, c;
  ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddKernelNode(&a, graph_, nullptr, 0, &kernel), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemsetNode(&b, graph_, nullptr, 0, &fill), cudaSuccess);
  fill.elementSize = 3;
  EXPECT_EQ(cudaGraphAddMemsetNode(&c, graph_, nullptr, 0, &fill), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &b, &a, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &b, &a, nullptr, 1), cudaErrorInvalidValue);  // twice
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&c, graph_, &a, 1, out, p_, 64, cudaMemcpyDeviceToHost),
            cudaSuccess);

  cudaGraphExec_t exec;
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &a, &b, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaErrorInvalidValue);  // a cycle
  EXPECT_EQ(cudaGraphRemoveDependencies(graph_, &a, &b, nullptr, 1), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 10);
  EXPECT_EQ(out[15], 7);

  by = 100;
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, a, &kernel), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 107);

  cudaGraphExecUpdateResultInfo result;
  EXPECT_EQ(cudaGraphExecUpdate(exec, graph_, &result), cudaSuccess);  // back to 3
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, b, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 110);
  cudaGraphNode_t empty;
  EXPECT_EQ(cudaGraphAddEmptyNode(&empty, graph_, &c, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, graph_, &result), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorTopologyChanged);

  cudaKernelNodeParams read{};
  EXPECT_EQ(cudaGraphKernelNodeGetParams(a, &read), cudaSuccess);
  EXPECT_EQ(read.func, kernel.func);
  EXPECT_EQ(*static_cast<int*>(read.kernelParams[1]), 3);
  EXPECT_EQ(cudaGraphKernelNodeGetParams(b, &read), cudaErrorInvalidValue);
}

TEST_F(GraphTest, ClonesAndChildren) {
  const TestKernel a("a", trace_.body("child"));
  cudaKernelNodeParams kernel{};
  kernel.func = const_cast<void*>(a.handle());
  kernel.gridDim = kernel.blockDim = dim3(1);
  cudaGraph_t child, parent, clone;
  cudaGraphNode_t inner, outer, first, found;
  cudaGraphCreate(&child, 0);
  cudaGraphCreate(&parent, 0);
  cudaGraphAddKernelNode(&inner, child, nullptr, 0, &kernel);
  const cudaHostNodeParams host{[](void* t) { static_cast<Trace*>(t)->add("first"); }, &trace_};
  cudaGraphAddHostNode(&first, parent, nullptr, 0, &host);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&outer, parent, &first, 1, child), cudaSuccess);
  ASSERT_EQ(cudaGraphClone(&clone, parent), cudaSuccess);
  EXPECT_EQ(cudaGraphNodeFindInClone(&found, first, clone), cudaSuccess);
  EXPECT_NE(found, first);
  EXPECT_EQ(cudaGraphNodeFindInClone(&found, found, parent), cudaErrorInvalidValue);
  cudaGraphDestroy(child);
  cudaGraphDestroy(parent);
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphInstantiate(&exec, clone, 0), cudaSuccess);
  cudaGraphLaunch(exec, s_);
  EXPECT_EQ(cudaStreamSynchronize(s_), cudaSuccess);
  EXPECT_EQ(trace_.events(), (Names{"first", "child"}));
  size_t count = 4;
  cudaGraphNode_t nodes[4];
  EXPECT_EQ(cudaGraphGetNodes(clone, nodes, &count), cudaSuccess);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(nodes[3], nullptr);
}

}  // namespace
}  // namespace ridge::vm::cudart
