// Memory nodes of graphs, user objects, attributes of kernel nodes.
#include <atomic>

#include "runtime_test.h"

namespace ridge::vm::cudart {
namespace {

cudaMemAllocNodeParams of_bytes(size_t bytes) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = bytes;
  return params;
}

constexpr uint64_t kPiece = 32 << 20;  // graphs take memory in these

uint64_t used(cudaGraphMemAttributeType what = cudaGraphMemAttrUsedMemCurrent) {
  uint64_t value = 77;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, what, &value), cudaSuccess);
  return value;
}

class GraphMemoryTest : public RuntimeTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  }
  // A node that allocates, and one behind it that fills.
  int* add_filled(size_t bytes, int byte, cudaGraphNode_t* last) {
    cudaMemAllocNodeParams alloc = of_bytes(bytes);
    cudaGraphNode_t first;
    EXPECT_EQ(cudaGraphAddMemAllocNode(&first, graph_, nullptr, 0, &alloc), cudaSuccess);
    cudaMemsetParams fill{};
    fill.dst = alloc.dptr;
    fill.value = unsigned(byte);
    fill.elementSize = 1;
    fill.width = bytes;
    fill.height = 1;
    EXPECT_EQ(cudaGraphAddMemsetNode(last, graph_, &first, 1, &fill), cudaSuccess);
    return static_cast<int*>(alloc.dptr);
  }
  cudaGraphExec_t instantiate(unsigned long long flags = 0) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, flags), cudaSuccess);
    return exec;
  }
  cudaError_t launch(cudaGraphExec_t exec) {
    const cudaError_t error = cudaGraphLaunch(exec, stream_);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    return error;
  }
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
};

TEST_F(GraphMemoryTest, MemoryIsThereFromItsNodeToItsFree) {
  cudaGraphNode_t fill, copy, free;
  int value = 0, late = 0;
  int* p = add_filled(4096, 1, &fill);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph_, &fill, 1, &value, p, 4, cudaMemcpyDeviceToHost),
            cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&free, graph_, &copy, 1, p), cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&free, graph_, &copy, 1, p), cudaErrorInvalidValue);  // twice
  EXPECT_EQ(cudaMemcpy(&late, p, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(used(), 0u);
  cudaGraphExec_t exec = instantiate();
  for (int i = 0; i < 2; ++i) {
    value = 0;
    EXPECT_EQ(launch(exec), cudaSuccess);
    EXPECT_EQ(value, 0x01010101);
    for (const auto what : {cudaGraphMemAttrUsedMemCurrent, cudaGraphMemAttrUsedMemHigh,
                            cudaGraphMemAttrReservedMemCurrent, cudaGraphMemAttrReservedMemHigh})
      EXPECT_EQ(used(what), kPiece) << what;
  }
  EXPECT_EQ(cudaFree(p), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(&late, p, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  uint64_t mark = 0;
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &mark), cudaSuccess);
  EXPECT_EQ(used(cudaGraphMemAttrUsedMemHigh), kPiece);
  mark = 1;
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &mark),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &mark),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGraphMemTrim(1), cudaErrorInvalidDevice);
}

// 40 MiB do not fit into the piece that the first graph left, and are two pieces of their own.
// Nothing goes before the device is told to trim. Numbers of an H200.
TEST_F(GraphMemoryTest, TheDeviceKeepsBlocksUntilItIsTrimmed) {
  constexpr auto kUsed = cudaGraphMemAttrUsedMemCurrent;
  constexpr auto kReserved = cudaGraphMemAttrReservedMemCurrent;
  constexpr auto kUsedHigh = cudaGraphMemAttrUsedMemHigh;
  constexpr auto kReservedHigh = cudaGraphMemAttrReservedMemHigh;
  const auto expect = [](uint64_t now, uint64_t high) {
    EXPECT_EQ(used(kUsed), now * kPiece);
    EXPECT_EQ(used(kReserved), now * kPiece);
    EXPECT_EQ(used(kUsedHigh), high * kPiece);
    EXPECT_EQ(used(kReservedHigh), high * kPiece);
  };
  const auto add = [](cudaGraph_t graph, size_t bytes, std::vector<cudaGraphNode_t> after) {
    cudaMemAllocNodeParams alloc = of_bytes(bytes);
    cudaGraphNode_t first, last;
    EXPECT_EQ(cudaGraphAddMemAllocNode(&first, graph, after.data(), after.size(), &alloc),
              cudaSuccess);
    EXPECT_EQ(cudaGraphAddMemFreeNode(&last, graph, &first, 1, alloc.dptr), cudaSuccess);
    return last;
  };
  add(graph_, 4096, {});
  cudaGraphExec_t exec = instantiate(), other_exec;
  expect(0, 0);
  EXPECT_EQ(launch(exec), cudaSuccess);
  expect(1, 1);
  cudaGraph_t other;
  ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
  add(other, 40 << 20, {add(other, 4096, {})});
  ASSERT_EQ(cudaGraphInstantiate(&other_exec, other, 0), cudaSuccess);
  expect(1, 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(launch(other_exec), cudaSuccess);
    expect(3, 3);
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  expect(3, 3);
  EXPECT_EQ(cudaGraphExecDestroy(other_exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
  expect(3, 3);
  EXPECT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
  expect(0, 3);
}

TEST_F(GraphMemoryTest, WhatIsNotFreedOutlivesTheGraph) {
  cudaGraphNode_t fill;
  int value = 0;
  int* p = add_filled(4096, 2, &fill);
  cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(cudaFreeAsync(p, stream_), cudaErrorInvalidValue);  // nobody has it yet
  EXPECT_EQ(launch(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaErrorInvalidValue);  // still allocated
  EXPECT_EQ(used(), kPiece);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 0x02020202);
  EXPECT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
  EXPECT_EQ(used(), kPiece);  // allocated still
  EXPECT_EQ(cudaFreeAsync(p, stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(p, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(used(), kPiece);
  EXPECT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
}

TEST_F(GraphMemoryTest, PlainFreeAndLaunchAgain) {
  cudaGraphNode_t fill;
  int* p = add_filled(512, 2, &fill);
  cudaGraphExec_t exec = instantiate();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    EXPECT_EQ(cudaFree(p), cudaSuccess);
    EXPECT_EQ(cudaFree(p), cudaErrorInvalidValue);
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(used(), kPiece);
}

TEST_F(GraphMemoryTest, LaunchesMayFreeWhatTheLastOneLeft) {
  cudaGraphNode_t fill;
  int* p = add_filled(512, 3, &fill);
  cudaGraphExec_t exec = instantiate(cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(launch(exec), cudaSuccess);
    EXPECT_EQ(used(), kPiece);
  }
  EXPECT_EQ(cudaFree(p), cudaSuccess);
}

TEST_F(GraphMemoryTest, AnotherGraphMayFree) {
  cudaGraphNode_t fill, free;
  int* p = add_filled(512, 3, &fill);
  cudaGraphExec_t exec = instantiate(), other;
  cudaGraph_t freeing;
  ASSERT_EQ(cudaGraphCreate(&freeing, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&free, freeing, nullptr, 0, p), cudaSuccess);
  void* shown = nullptr;
  EXPECT_EQ(cudaGraphMemFreeNodeGetParams(free, &shown), cudaSuccess);
  EXPECT_EQ(shown, p);
  ASSERT_EQ(cudaGraphInstantiate(&other, freeing, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(other, stream_), cudaErrorInvalidValue);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(launch(exec), cudaSuccess);
    EXPECT_EQ(launch(other), cudaSuccess);
    EXPECT_EQ(used(), kPiece);
  }
}

TEST_F(GraphMemoryTest, CaptureMakesMemoryNodes) {
  void *p = nullptr, *plain = nullptr;
  int value = 0;
  ASSERT_EQ(cudaMallocAsync(&plain, 64, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(&p, 64, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(p, 5, 64, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(&value, p, 4, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(p, stream_), cudaSuccess);
  cudaGraph_t captured;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &captured), cudaSuccess);
  cudaGraphNode_t nodes[4];
  size_t count = 4;
  ASSERT_EQ(cudaGraphGetNodes(captured, nodes, &count), cudaSuccess);
  cudaGraphNodeType first, last;
  cudaGraphNodeGetType(nodes[0], &first);
  cudaGraphNodeGetType(nodes[3], &last);
  EXPECT_EQ(first, cudaGraphNodeTypeMemAlloc);
  EXPECT_EQ(last, cudaGraphNodeTypeMemFree);
  cudaMemAllocNodeParams params;
  EXPECT_EQ(cudaGraphMemAllocNodeGetParams(nodes[0], &params), cudaSuccess);
  EXPECT_EQ(params.dptr, p);
  EXPECT_EQ(params.bytesize, 64u);
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphInstantiate(&exec, captured, 0), cudaSuccess);
  EXPECT_EQ(launch(exec), cudaSuccess);
  EXPECT_EQ(value, 0x05050505);
  // Memory of no graph cannot be freed by one.
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(plain, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaErrorStreamCaptureInvalidated);
}

TEST_F(GraphMemoryTest, SuchGraphsStayWhole) {
  cudaGraphNode_t fill, node;
  add_filled(512, 3, &fill);
  cudaGraph_t other, parent;
  cudaGraphExec_t exec = instantiate(), second;
  EXPECT_EQ(cudaGraphInstantiate(&second, graph_, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&second, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphClone(&other, graph_), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphDestroyNode(fill), cudaErrorNotSupported);
  ASSERT_EQ(cudaGraphCreate(&parent, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, graph_), cudaErrorNotSupported);
  cudaGraphNodeParams child{};
  child.type = cudaGraphNodeTypeGraph;
  child.graph.graph = graph_;
  child.graph.ownership = cudaGraphChildGraphOwnershipMove;
  EXPECT_EQ(cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &child), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaErrorInvalidValue);  // it is the parent's now
  cudaMemAllocNodeParams params = of_bytes(0);
  EXPECT_EQ(cudaGraphAddMemAllocNode(&node, parent, nullptr, 0, &params), cudaErrorInvalidValue);
  params = of_bytes(size_t(1) << 50);
  EXPECT_EQ(cudaGraphAddMemAllocNode(&node, parent, nullptr, 0, &params),
            cudaErrorMemoryAllocation);
  params = of_bytes(64);
  params.poolProps.location.id = 1;
  EXPECT_EQ(cudaGraphAddMemAllocNode(&node, parent, nullptr, 0, &params), cudaErrorInvalidDevice);
}

TEST_F(GraphMemoryTest, NodesGivenByTheirKind) {
  cudaGraphNodeParams alloc{}, free{};
  cudaGraphNode_t first, last;
  alloc.type = cudaGraphNodeTypeMemAlloc;
  alloc.alloc.poolProps = of_bytes(0).poolProps;
  alloc.alloc.bytesize = 64;
  ASSERT_EQ(cudaGraphAddNode(&first, graph_, nullptr, nullptr, 0, &alloc), cudaSuccess);
  EXPECT_NE(alloc.alloc.dptr, nullptr);
  EXPECT_EQ(cudaGraphNodeSetParams(first, &alloc), cudaErrorInvalidValue);
  free.type = cudaGraphNodeTypeMemFree;
  free.free.dptr = alloc.alloc.dptr;
  EXPECT_EQ(cudaGraphAddNode(&last, graph_, &first, nullptr, 1, &free), cudaSuccess);
}

void count_down(void* counter) { --*static_cast<std::atomic<int>*>(counter); }

TEST_F(GraphMemoryTest, MoreReferencesThanThereAreMayBeReleased) {
  std::atomic<int> alive = 1;
  cudaUserObject_t object;
  ASSERT_EQ(cudaUserObjectCreate(&object, &alive, count_down, 1, cudaUserObjectNoDestructorSync),
            cudaSuccess);
  EXPECT_EQ(cudaUserObjectRelease(object, 2), cudaSuccess);
  EXPECT_EQ(alive, 0);
}

TEST_F(GraphMemoryTest, UserObjectsLiveAsLongAsAnybodyHoldsThem) {
  std::atomic<int> alive = 1;
  cudaUserObject_t object;
  EXPECT_EQ(cudaUserObjectCreate(&object, &alive, count_down, 1, 0), cudaErrorInvalidValue);
  ASSERT_EQ(cudaUserObjectCreate(&object, &alive, count_down, 2, cudaUserObjectNoDestructorSync),
            cudaSuccess);
  EXPECT_EQ(cudaUserObjectRetain(object, 1), cudaSuccess);
  EXPECT_EQ(cudaUserObjectRelease(object, 2), cudaSuccess);
  EXPECT_EQ(cudaGraphRetainUserObject(graph_, object, 1, cudaGraphUserObjectMove), cudaSuccess);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaErrorInvalidValue);  // it was moved away
  EXPECT_EQ(cudaGraphRetainUserObject(graph_, object, 2, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph_, object, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph_, object, 2), cudaSuccess);
  Gate gate;
  const TestKernel held("held", gate.body());
  cudaKernelNodeParams params{};
  params.func = const_cast<void*>(held.handle());
  params.gridDim = params.blockDim = 1;
  cudaGraphNode_t node;
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &params), cudaSuccess);
  cudaGraph_t clone;
  ASSERT_EQ(cudaGraphClone(&clone, graph_), cudaSuccess);
  cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(clone), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(alive, 1);  // the launch holds it
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  for (int i = 0; i < 1000 && alive; ++i) cudaStreamQuery(stream_);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(cudaUserObjectRetain(object, 1), cudaErrorInvalidValue);
}

TEST_F(GraphMemoryTest, KernelNodesHaveAttributes) {
  const TestKernel a("a");
  cudaKernelNodeParams params{};
  params.func = const_cast<void*>(a.handle());
  params.gridDim = params.blockDim = 1;
  cudaGraphNode_t node, other, empty;
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &params), cudaSuccess);
  ASSERT_EQ(cudaGraphAddKernelNode(&other, graph_, nullptr, 0, &params), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEmptyNode(&empty, graph_, nullptr, 0), cudaSuccess);
  cudaLaunchAttributeValue value{}, back{};
  value.priority = -3;
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value),
            cudaSuccess);
  value.cooperative = 1;
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value),
            cudaSuccess);
  EXPECT_EQ(cudaGraphKernelNodeSetParams(node, &params), cudaSuccess);  // which keeps them
  EXPECT_EQ(cudaGraphKernelNodeCopyAttributes(other, node), cudaSuccess);
  EXPECT_EQ(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributePriority, &back),
            cudaSuccess);
  EXPECT_EQ(back.priority, -3);
  EXPECT_EQ(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeCooperative, &back),
            cudaSuccess);
  EXPECT_EQ(back.cooperative, 1);
  value = {};
  value.accessPolicyWindow.hitRatio = 1.5f;
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeAccessPolicyWindow, &value),
            cudaErrorInvalidValue);
  value.clusterDim = {2, 1, 1};
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value),
            cudaErrorInvalidClusterSize);
  EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeSynchronizationPolicy, &value),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphKernelNodeGetAttribute(empty, cudaLaunchAttributePriority, &back),
            cudaErrorInvalidValue);
}

TEST_F(GraphMemoryTest, AChildOfAnExecutableGraphChanges) {
  Trace trace;
  const TestKernel a("a", trace.body("a")), b("b", trace.body("b"));
  const auto graph_of = [](const TestKernel& kernel, int times) {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(kernel.handle());
    params.gridDim = params.blockDim = 1;
    EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    for (int i = 0; i < times; ++i)
      EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params), cudaSuccess);
    return graph;
  };
  cudaGraphNode_t first, child;
  cudaKernelNodeParams params{};
  params.func = const_cast<void*>(a.handle());
  params.gridDim = params.blockDim = 1;
  ASSERT_EQ(cudaGraphAddKernelNode(&first, graph_, nullptr, 0, &params), cudaSuccess);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&child, graph_, &first, 1, graph_of(a, 2)), cudaSuccess);
  cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(exec, child, graph_of(b, 2)), cudaSuccess);
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(exec, child, graph_of(b, 1)),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(exec, first, graph_of(b, 2)),
            cudaErrorInvalidValue);
  EXPECT_EQ(launch(exec), cudaSuccess);
  EXPECT_EQ(trace.events(), (std::vector<std::string>{"a", "b", "b"}));
}

TEST_F(GraphMemoryTest, LaunchAttributesAreDoneOrRefused) {
  const TestKernel a("a");
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  config.stream = stream_;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const auto launched = [&](cudaLaunchAttributeID id) {
    attribute.id = id;
    return cudaLaunchKernelExC(&config, a.handle(), nullptr);
  };
  for (const auto hint :
       {cudaLaunchAttributeIgnore, cudaLaunchAttributeAccessPolicyWindow,
        cudaLaunchAttributeCooperative, cudaLaunchAttributeClusterSchedulingPolicyPreference,
        cudaLaunchAttributeProgrammaticStreamSerialization, cudaLaunchAttributePriority,
        cudaLaunchAttributeMemSyncDomainMap, cudaLaunchAttributeMemSyncDomain,
        cudaLaunchAttributePreferredSharedMemoryCarveout,
        cudaLaunchAttributeNvlinkUtilCentricScheduling})
    EXPECT_EQ(launched(hint), cudaSuccess) << hint;
  EXPECT_EQ(launched(cudaLaunchAttributeDeviceUpdatableKernelNode), cudaErrorNotSupported);
  EXPECT_EQ(launched(cudaLaunchAttributeSynchronizationPolicy), cudaErrorInvalidValue);
  EXPECT_EQ(launched(cudaLaunchAttributeID(99)), cudaErrorInvalidValue);
  attribute.val.clusterDim = {2, 1, 1};
  EXPECT_EQ(launched(cudaLaunchAttributeClusterDimension), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launched(cudaLaunchAttributePreferredClusterDimension), cudaSuccess);
  attribute.val.clusterDim = {1, 1, 1};
  EXPECT_EQ(launched(cudaLaunchAttributeClusterDimension), cudaSuccess);
}

TEST_F(GraphMemoryTest, NodesHaveNotEveryAttributeOfLaunches) {
  const TestKernel a("a");
  cudaKernelNodeParams params{};
  params.func = const_cast<void*>(a.handle());
  params.gridDim = params.blockDim = 1;
  cudaGraphNode_t node;
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &params), cudaSuccess);
  cudaLaunchAttributeValue value{};
  for (int id = 0; id < 17; ++id) {
    const bool has =
        id == 1 || id == 2 || id == 4 || id == 5 || (id >= 8 && id <= 10) || id == 13 || id == 14;
    EXPECT_EQ(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeID(id), &value),
              has ? cudaSuccess : cudaErrorInvalidValue)
        << id;
  }
}

TEST_F(GraphMemoryTest, LaunchesRecordEvents) {
  Gate gate;
  const TestKernel held("held", gate.body());
  cudaEvent_t event, timed;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&timed), cudaSuccess);
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  config.stream = stream_;
  config.attrs = &attribute;
  config.numAttrs = 1;
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  attribute.val.programmaticEvent.event = timed;
  EXPECT_EQ(cudaLaunchKernelExC(&config, held.handle(), nullptr), cudaErrorNotSupported);
  attribute.val.programmaticEvent.event = event;
  EXPECT_EQ(cudaLaunchKernelExC(&config, held.handle(), nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  gate.open();
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  attribute.val = {};
  attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
  attribute.val.launchCompletionEvent.event = event;
  EXPECT_EQ(cudaLaunchKernelExC(&config, held.handle(), nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
}

}  // namespace
}  // namespace ridge::vm::cudart
