// Streams, events, values in memory, capture and graphs.
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

class Streams : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  CUstream stream = nullptr;
};

TEST_F(Streams, CallbacksRunInOrder) {
  std::vector<int> order;
  const auto add = [](void* data) {
    auto* list = static_cast<std::vector<int>*>(data);
    list->push_back(int(list->size()));
  };
  EXPECT_OK(cuLaunchHostFunc(stream, add, &order));
  EXPECT_OK(cuStreamAddCallback(
      stream,
      [](CUstream, CUresult result, void* data) {
        EXPECT_OK(result);
        static_cast<std::vector<int>*>(data)->push_back(100);
      },
      &order, 0));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(order, (std::vector<int>{0, 100}));
}

TEST_F(Streams, EventsMeasureAndOrder) {
  CUevent start = nullptr, end = nullptr;
  EXPECT_OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  EXPECT_OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  EXPECT_OK(cuEventRecord(start, stream));
  EXPECT_OK(cuLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  EXPECT_OK(cuEventRecord(end, stream));
  EXPECT_OK(cuStreamWaitEvent(nullptr, end, 0));
  EXPECT_OK(cuStreamSynchronize(nullptr));
  float milliseconds = 0;
  EXPECT_OK(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 15);
  EXPECT_OK(cuEventDestroy(start));
  EXPECT_OK(cuEventDestroy(end));
}

TEST_F(Streams, AStreamWaitsForAValue) {
  CUdeviceptr flag = 0;
  CUstream other = nullptr;
  std::atomic<int> done{0};
  ASSERT_OK(cuMemAlloc(&flag, 8));
  EXPECT_OK(cuMemsetD32(flag, 0, 2));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  EXPECT_OK(cuStreamWaitValue32(stream, flag, 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_OK(cuLaunchHostFunc(
      stream, [](void* data) { *static_cast<std::atomic<int>*>(data) = 1; }, &done));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(done, 0);
  EXPECT_OK(cuStreamWriteValue32(other, flag, 4, 0));
  EXPECT_OK(cuStreamSynchronize(other));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(done, 0);
  EXPECT_OK(cuStreamWriteValue32(other, flag, 6, 0));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(done, 1);
  EXPECT_EQ(cuStreamWaitValue32(stream, flag + 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Streams, ADestroyedStreamIsNoStream) {
  EXPECT_OK(cuStreamDestroy(stream));
  if (std::getenv("RIDGE_TEST_REAL_GPU")) return;  // where using it may crash
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Streams, ACapturedLaunchIsAGraph) {
  const Module module;
  const Floats in({1, 2, 3}), out(std::vector<float>(3));
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(launch_scale(module.function("scale"), in, out, 2, stream));
  EXPECT_OK(cuMemcpyDtoDAsync(in.address, out.address, in.bytes(), stream));
  EXPECT_OK(cuStreamEndCapture(stream, &graph));
  size_t count = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(in.values(), (std::vector<float>{7, 11, 15}));
  EXPECT_OK(cuGraphExecDestroy(exec));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(Streams, AGraphIsMadeOfNodes) {
  const Module module;
  const Floats in({1, 2, 3, 4}), out(std::vector<float>(4));
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphNode fill = nullptr, kernel = nullptr, copy = nullptr, host = nullptr;
  ASSERT_OK(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS set{};
  set.dst = in.address;
  set.value = 0x40000000;  // 2.0f
  set.elementSize = 4;
  set.width = 2;
  set.height = 1;
  EXPECT_OK(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &set, context));
  CUdeviceptr from = in.address, to = out.address;
  float a = 10;
  unsigned n = 4;
  void* arguments[] = {&from, &to, &a, &n};
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = module.function("scale");
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = 32;
  params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  EXPECT_OK(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &params));
  std::vector<float> result(4);
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = out.address;
  box.dstMemoryType = CU_MEMORYTYPE_HOST;
  box.dstHost = result.data();
  box.WidthInBytes = 16;
  box.Height = box.Depth = 1;
  EXPECT_OK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &box, context));
  int calls = 0;
  CUDA_HOST_NODE_PARAMS call{[](void* data) { ++*static_cast<int*>(data); }, &calls};
  EXPECT_OK(cuGraphAddHostNode(&host, graph, &copy, 1, &call));

  EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(result, (std::vector<float>{21, 21, 31, 41}));
  a = 100;
  EXPECT_OK(cuGraphExecKernelNodeSetParams(exec, kernel, &params));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(result, (std::vector<float>{201, 201, 301, 401}));
  EXPECT_EQ(calls, 2);

  CUDA_KERNEL_NODE_PARAMS read{};
  EXPECT_OK(cuGraphKernelNodeGetParams(kernel, &read));
  EXPECT_EQ(read.func, params.func);
  EXPECT_EQ(read.blockDimX, 32u);
  EXPECT_EQ(*static_cast<float*>(read.kernelParams[2]), 10);
  CUgraphNodeType type{};
  EXPECT_OK(cuGraphNodeGetType(copy, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMCPY);
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_OK(cuGraphAddNode(&host, graph, nullptr, nullptr, 0, &any));
}

}  // namespace
}  // namespace ridge::vm::driver
