// Memory and conditional nodes of graphs, user objects, attributes of nodes; batches, advice and
// the log.
#include <cstring>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

class Graphs : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_OK(cuGraphCreate(&graph, 0));
    ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  CUDA_MEM_ALLOC_NODE_PARAMS of_bytes(size_t bytes) const {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = device;
    params.bytesize = bytes;
    return params;
  }
  CUgraph graph = nullptr;
  CUstream stream = nullptr;
};

TEST_F(Graphs, ConditionalNodes) {
  CUgraphConditionalHandle handle = 0;
  EXPECT_EQ(cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 4),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_OK(
      cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = handle;
  params.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
  params.conditional.size = 2;
  params.conditional.ctx = context;
  CUgraphNode node = nullptr, fill = nullptr;
  ASSERT_OK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  CUgraphNodeType type{};
  EXPECT_OK(cuGraphNodeGetType(node, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  const Floats out({0, 0});
  CUDA_MEMSET_NODE_PARAMS memset{};
  memset.elementSize = 4;
  memset.width = memset.height = 1;
  memset.value = 0x3F800000;  // 1.0
  for (unsigned body = 0; body < 2; ++body) {
    memset.dst = out.address + 4 * body;
    ASSERT_OK(cuGraphAddMemsetNode(&fill, params.conditional.phGraph_out[body], nullptr, 0, &memset,
                                   context));
  }
  EXPECT_EQ(cuGraphNodeSetParams(node, &params), CUDA_ERROR_INVALID_VALUE);
  CUgraphExec exec = nullptr;
  ASSERT_OK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(out.values()[0], 0);
  EXPECT_EQ(out.values()[1], 1);
  EXPECT_OK(cuGraphExecDestroy(exec));
}

TEST_F(Graphs, MemoryComesAndGoesWithNodes) {
  const Module module;
  const Floats in({1, 2, 3, 4}), out({0, 0, 0, 0});
  CUDA_MEM_ALLOC_NODE_PARAMS alloc = of_bytes(16), shown{};
  CUgraphNode first = nullptr, second = nullptr, third = nullptr, last = nullptr;
  ASSERT_OK(cuGraphAddMemAllocNode(&first, graph, nullptr, 0, &alloc));
  EXPECT_OK(cuGraphMemAllocNodeGetParams(first, &shown));
  EXPECT_EQ(shown.dptr, alloc.dptr);
  EXPECT_EQ(shown.bytesize, 16u);
  CUdeviceptr from = in.address, between = alloc.dptr, to = out.address;
  float a = 2;
  unsigned n = 4;
  void* there[] = {&from, &between, &a, &n};
  void* back[] = {&between, &to, &a, &n};
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = module.function("scale");
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = 32;
  kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = there;
  ASSERT_OK(cuGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  kernel.kernelParams = back;
  ASSERT_OK(cuGraphAddKernelNode(&third, graph, &second, 1, &kernel));
  CUgraphNodeParams free{};
  free.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  free.free.dptr = alloc.dptr;
  ASSERT_OK(cuGraphAddNode(&last, graph, &third, nullptr, 1, &free));
  CUdeviceptr freed = 0;
  EXPECT_OK(cuGraphMemFreeNodeGetParams(last, &freed));
  EXPECT_EQ(freed, alloc.dptr);
  CUgraphExec exec = nullptr;
  ASSERT_OK(cuGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuGraphLaunch(exec, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(out.values(), (std::vector<float>{7, 11, 15, 19}));
  cuuint64_t used = 1;
  EXPECT_OK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 32u << 20);  // kept for the next launch
  cuuint64_t mark = 0;
  EXPECT_OK(cuDeviceSetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &mark));
  EXPECT_OK(cuDeviceGraphMemTrim(device));
}

TEST_F(Graphs, UserObjectsAndAttributes) {
  const Module module;
  const Floats in({1}), out({0});
  CUdeviceptr from = in.address, to = out.address;
  float a = 2;
  unsigned n = 1;
  void* arguments[] = {&from, &to, &a, &n};
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = module.function("scale");
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = arguments;
  CUgraphNode node = nullptr, other = nullptr;
  ASSERT_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  ASSERT_OK(cuGraphAddKernelNode(&other, graph, nullptr, 0, &kernel));
  CUlaunchAttributeValue value{}, back{};
  value.priority = -1;
  EXPECT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT_OK(cuGraphKernelNodeCopyAttributes(other, node));
  EXPECT_OK(cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_PRIORITY, &back));
  EXPECT_EQ(back.priority, -1);
  bool gone = false;
  CUuserObject object = nullptr;
  ASSERT_OK(cuUserObjectCreate(
      &object, &gone, [](void* flag) { *static_cast<bool*>(flag) = true; }, 1,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  EXPECT_OK(cuUserObjectRetain(object, 1));
  EXPECT_OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  EXPECT_OK(cuUserObjectRelease(object, 1));
  EXPECT_FALSE(gone);
  EXPECT_OK(cuGraphReleaseUserObject(graph, object, 1));
  EXPECT_TRUE(gone);
}

TEST_F(Graphs, BatchesInOneCall) {
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAlloc(&memory, 64));
  int host[2] = {5, 6}, back[2] = {};
  CUdeviceptr to[] = {memory, memory + 4}, from[] = {reinterpret_cast<CUdeviceptr>(&host[1]),
                                                     reinterpret_cast<CUdeviceptr>(&host[0])};
  size_t sizes[] = {4, 4}, firsts[] = {0};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  EXPECT_OK(cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, firsts, 1, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemcpyDtoH(back, memory, 8));
  EXPECT_EQ(back[0], 6);
  EXPECT_EQ(back[1], 5);
  CUDA_MEMCPY3D_BATCH_OP box{};
  box.src.type = box.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  box.src.op.ptr.ptr = memory;
  box.dst.op.ptr.ptr = memory + 32;
  box.extent = {8, 1, 1};
  box.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  EXPECT_OK(cuMemcpy3DBatchAsync(1, &box, 0, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  EXPECT_OK(cuMemcpyDtoH(back, memory + 36, 4));
  EXPECT_EQ(back[0], 5);
}

TEST_F(Graphs, AdviceIsGivenBack) {
  CUdeviceptr memory = 0;
  size_t bytes = 1 << 16;
  ASSERT_OK(cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL));
  CUmemLocation place{};
  place.type = CU_MEM_LOCATION_TYPE_DEVICE;
  place.id = device;
  int value = 77;
  EXPECT_OK(cuMemAdvise(memory, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, place));
  EXPECT_OK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, bytes));
  EXPECT_EQ(value, 1);
  size_t firsts[] = {0};
  EXPECT_OK(cuMemPrefetchBatchAsync(&memory, &bytes, 1, &place, firsts, 1, 0, stream));
  void* data[] = {&value};
  size_t sizes[] = {4};
  CUmem_range_attribute asked[] = {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION};
  EXPECT_OK(cuMemRangeGetAttributes(data, sizes, asked, 1, memory, bytes));
  EXPECT_EQ(value, device);
  EXPECT_OK(cuMemDiscardBatchAsync(&memory, &bytes, 1, 0, stream));
  EXPECT_OK(cuMemDiscardAndPrefetchBatchAsync(&memory, &bytes, 1, &place, firsts, 1, 0, stream));
  EXPECT_OK(cuStreamSynchronize(stream));
  CUmemoryPool pool = nullptr, same = nullptr;
  EXPECT_OK(cuMemGetDefaultMemPool(&pool, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_OK(cuDeviceGetDefaultMemPool(&same, device));
  EXPECT_EQ(pool, same);
  EXPECT_OK(cuMemSetMemPool(&place, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
  EXPECT_OK(cuMemGetMemPool(&same, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(pool, same);
}

TEST_F(Graphs, TheLogCanBeRead) {
  CUlogIterator at = 0;
  char text[256];
  size_t size = sizeof text;
  CUlogsCallbackHandle handle = nullptr;
  EXPECT_OK(cuLogsCurrent(&at, 0));
  EXPECT_OK(cuLogsDumpToMemory(&at, text, &size, 0));
  EXPECT_EQ(size, 0u);
  EXPECT_OK(cuLogsRegisterCallback([](void*, CUlogLevel, char*, size_t) {}, nullptr, &handle));
  EXPECT_OK(cuLogsUnregisterCallback(handle));
  EXPECT_EQ(cuLogsCurrent(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace ridge::vm::driver
