// Batches of copies and hints, advice for managed memory, pools by location, the log.
#include <cstdio>
#include <cstring>
#include <numeric>

#include "runtime_test.h"
#include "vm/cudart/report.h"

namespace ridge::vm::cudart {
namespace {

class BatchTest : public RuntimeTest {
 protected:
  void SetUp() override { ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess); }
  cudaStream_t stream_ = nullptr;
};

cudaMemcpyAttributes ordered(cudaMemcpySrcAccessOrder order) {
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = order;
  return attributes;
}

TEST_F(BatchTest, SourcesAreReadWhenTheirOrderSays) {
  Gate gate;
  const TestKernel held("held", gate.body());
  int *device = nullptr, early = 1, late = 1;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 64), cudaSuccess);
  ASSERT_EQ(cudaMemset(device, 0, 64), cudaSuccess);
  void* to[] = {device, device + 1};
  const void* from[] = {&early, &late};
  size_t sizes[] = {4, 4}, firsts[] = {0, 1};
  cudaMemcpyAttributes attributes[] = {ordered(cudaMemcpySrcAccessOrderDuringApiCall),
                                       ordered(cudaMemcpySrcAccessOrderStream)};
  const auto batch = [&](size_t number, cudaStream_t stream) {
    return cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, firsts, number, stream);
  };
  EXPECT_EQ(held.launch(stream_), cudaSuccess);
  EXPECT_EQ(batch(2, stream_), cudaSuccess);
  early = late = 2;
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  int back[2];
  EXPECT_EQ(cudaMemcpy(back, device, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back[0], 1);
  EXPECT_EQ(back[1], 2);

  EXPECT_EQ(batch(2, nullptr), cudaErrorInvalidValue);  // not in the legacy stream
  cudaGraph_t graph;
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(batch(2, stream_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  sizes[0] = 0;
  EXPECT_EQ(batch(2, stream_), cudaErrorInvalidValue);
  sizes[0] = 4;
  EXPECT_EQ(batch(3, stream_), cudaErrorInvalidValue);
  firsts[1] = 0;
  EXPECT_EQ(batch(2, stream_), cudaErrorInvalidValue);
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  EXPECT_EQ(batch(1, stream_), cudaErrorInvalidValue);
  // Nothing is copied unless everything can be.
  attributes[0] = ordered(cudaMemcpySrcAccessOrderStream);
  early = 9;
  sizes[1] = 64;
  EXPECT_EQ(batch(1, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(back, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back[0], 1);
}

TEST_F(BatchTest, BoxesAndArrays) {
  std::vector<short> host(4 * 3 * 2), packed(2 * 2 * 2, -1);
  std::iota(host.begin(), host.end(), short(0));
  const cudaChannelFormatDesc desc =
      cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaArray_t array;
  ASSERT_EQ(cudaMalloc3DArray(&array, &desc, {4, 3, 2}, 0), cudaSuccess);
  cudaMemcpy3DBatchOp in{}, out{};
  in.src.type = cudaMemcpyOperandTypePointer;
  in.src.op.ptr.ptr = host.data();
  in.dst.type = cudaMemcpyOperandTypeArray;
  in.dst.op.array.array = array;
  in.extent = {4, 3, 2};
  in.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &in, 0, stream_), cudaSuccess);
  out.src = in.dst;
  out.src.op.array.offset = {1, 1, 0};
  out.dst.type = cudaMemcpyOperandTypePointer;
  out.dst.op.ptr.ptr = packed.data();
  out.extent = {2, 2, 2};
  out.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &out, 0, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(packed, (std::vector<short>{5, 6, 9, 10, 17, 18, 21, 22}));
  out.dst.op.ptr.rowLength = 1;  // shorter than the copy is wide
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &out, 0, stream_), cudaErrorInvalidValue);
  out.dst.op.ptr.rowLength = 0;
  out.src.op.array.offset = {3, 1, 0};
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &out, 0, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &in, 1, stream_), cudaErrorInvalidValue);
}

cudaMemLocation place(cudaMemLocationType type) {
  cudaMemLocation location{};
  location.type = type;
  return location;
}

class ManagedTest : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&memory_), 4 * kPage), cudaSuccess);
  }
  int ask(cudaMemRangeAttribute attribute, size_t page, size_t pages) {
    int value = 77;
    EXPECT_EQ(cudaMemRangeGetAttribute(&value, 4, attribute, memory_ + page * kPage, pages * kPage),
              cudaSuccess);
    return value;
  }
  static constexpr size_t kPage = 4096;
  char* memory_ = nullptr;
};

TEST_F(ManagedTest, RangesAnswerWhatHoldsForAllOfThem) {
  const cudaMemLocation device = place(cudaMemLocationTypeDevice),
                        host = place(cudaMemLocationTypeHost);
  EXPECT_EQ(ask(cudaMemRangeAttributeReadMostly, 0, 4), 0);
  EXPECT_EQ(ask(cudaMemRangeAttributePreferredLocation, 0, 4), cudaInvalidDeviceId);
  EXPECT_EQ(ask(cudaMemRangeAttributeLastPrefetchLocation, 0, 4), cudaInvalidDeviceId);
  char* middle = memory_ + kPage;
  EXPECT_EQ(cudaMemAdvise(middle, 2 * kPage, cudaMemAdviseSetReadMostly, device), cudaSuccess);
  EXPECT_EQ(ask(cudaMemRangeAttributeReadMostly, 1, 2), 1);
  EXPECT_EQ(ask(cudaMemRangeAttributeReadMostly, 0, 2), 0);
  EXPECT_EQ(ask(cudaMemRangeAttributeReadMostly, 2, 2), 0);
  EXPECT_EQ(cudaMemAdvise(middle, kPage, cudaMemAdviseUnsetReadMostly, device), cudaSuccess);
  EXPECT_EQ(ask(cudaMemRangeAttributeReadMostly, 2, 1), 1);
  EXPECT_EQ(ask(cudaMemRangeAttributeReadMostly, 1, 2), 0);

  EXPECT_EQ(cudaMemAdvise(memory_, 2 * kPage, cudaMemAdviseSetPreferredLocation, device),
            cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(memory_ + 2 * kPage, kPage, cudaMemAdviseSetPreferredLocation, host),
            cudaSuccess);
  EXPECT_EQ(ask(cudaMemRangeAttributePreferredLocation, 0, 2), 0);
  EXPECT_EQ(ask(cudaMemRangeAttributePreferredLocation, 2, 1), cudaCpuDeviceId);
  EXPECT_EQ(ask(cudaMemRangeAttributePreferredLocation, 1, 2), cudaInvalidDeviceId);
  EXPECT_EQ(ask(cudaMemRangeAttributePreferredLocationType, 2, 1), cudaMemLocationTypeHost);
  EXPECT_EQ(ask(cudaMemRangeAttributePreferredLocationId, 0, 1), 0);

  int list[3];
  EXPECT_EQ(cudaMemAdvise(memory_, kPage, cudaMemAdviseSetAccessedBy, device), cudaSuccess);
  EXPECT_EQ(cudaMemRangeGetAttribute(list, 12, cudaMemRangeAttributeAccessedBy, memory_, kPage),
            cudaSuccess);
  EXPECT_EQ(list[0], 0);
  EXPECT_EQ(list[1], cudaInvalidDeviceId);
  EXPECT_EQ(list[2], cudaInvalidDeviceId);

  EXPECT_EQ(cudaMemPrefetchAsync(memory_, kPage, device, 0, stream_), cudaSuccess);
  EXPECT_EQ(ask(cudaMemRangeAttributeLastPrefetchLocation, 0, 1), 0);
  EXPECT_EQ(ask(cudaMemRangeAttributeLastPrefetchLocation, 0, 2), cudaInvalidDeviceId);

  int read = 0, prefetched = 0;
  void* data[] = {&read, &prefetched};
  size_t sizes[] = {4, 4};
  cudaMemRangeAttribute both[] = {cudaMemRangeAttributeReadMostly,
                                  cudaMemRangeAttributeLastPrefetchLocationType};
  EXPECT_EQ(cudaMemRangeGetAttributes(data, sizes, both, 2, memory_, kPage), cudaSuccess);
  EXPECT_EQ(read, 0);
  EXPECT_EQ(prefetched, cudaMemLocationTypeDevice);

  EXPECT_EQ(cudaMemRangeGetAttribute(list, 12, cudaMemRangeAttributeReadMostly, memory_, kPage),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemRangeGetAttribute(list, 4, cudaMemRangeAttribute(99), memory_, kPage),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemRangeGetAttribute(list, 4, cudaMemRangeAttributeReadMostly, list, 4),
            cudaErrorInvalidValue);
}

TEST_F(ManagedTest, AdviceGoesWithItsMemory) {
  const cudaMemLocation device = place(cudaMemLocationTypeDevice);
  ASSERT_EQ(cudaMemAdvise(memory_, 4 * kPage, cudaMemAdviseSetReadMostly, device), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&memory_), 4 * kPage), cudaSuccess);
  EXPECT_EQ(ask(cudaMemRangeAttributeReadMostly, 0, 4), 0);
}

TEST_F(ManagedTest, HintsInBatches) {
  void* ranges[] = {memory_, memory_ + kPage, memory_ + 2 * kPage};
  size_t sizes[] = {kPage, kPage, kPage}, firsts[] = {0, 2};
  cudaMemLocation places[] = {place(cudaMemLocationTypeDevice), place(cudaMemLocationTypeHost)};
  EXPECT_EQ(cudaMemPrefetchBatchAsync(ranges, sizes, 3, places, firsts, 2, 0, stream_),
            cudaSuccess);
  EXPECT_EQ(ask(cudaMemRangeAttributeLastPrefetchLocation, 0, 2), 0);
  EXPECT_EQ(ask(cudaMemRangeAttributeLastPrefetchLocation, 2, 1), cudaCpuDeviceId);
  memory_[0] = 7;
  EXPECT_EQ(
      cudaMemDiscardAndPrefetchBatchAsync(ranges, sizes, 3, places + 1, firsts, 1, 0, stream_),
      cudaSuccess);
  EXPECT_EQ(ask(cudaMemRangeAttributeLastPrefetchLocation, 0, 2), cudaCpuDeviceId);
  EXPECT_EQ(cudaMemDiscardBatchAsync(ranges, sizes, 3, 0, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemDiscardBatchAsync(ranges, sizes, 3, 1, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemDiscardBatchAsync(ranges, sizes, 3, 0, nullptr), cudaErrorInvalidValue);
  sizes[2] = 4 * kPage;
  EXPECT_EQ(cudaMemDiscardBatchAsync(ranges, sizes, 3, 0, stream_), cudaErrorInvalidValue);
}

TEST_F(BatchTest, PoolsByLocation) {
  cudaMemLocation device = place(cudaMemLocationTypeDevice), host = place(cudaMemLocationTypeHost),
                  none = place(cudaMemLocationTypeInvalid);
  cudaMemPool_t pool = nullptr, standard = nullptr, made = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&standard, 0), cudaSuccess);
  EXPECT_EQ(cudaMemGetDefaultMemPool(&pool, &device, cudaMemAllocationTypePinned), cudaSuccess);
  EXPECT_EQ(pool, standard);
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = device;
  ASSERT_EQ(cudaMemPoolCreate(&made, &properties), cudaSuccess);
  EXPECT_EQ(cudaMemSetMemPool(&device, cudaMemAllocationTypePinned, made), cudaSuccess);
  EXPECT_EQ(cudaMemGetMemPool(&pool, &device, cudaMemAllocationTypePinned), cudaSuccess);
  EXPECT_EQ(pool, made);
  EXPECT_EQ(cudaMemGetMemPool(&pool, &host, cudaMemAllocationTypePinned), cudaErrorNotSupported);
  EXPECT_EQ(cudaMemGetMemPool(&pool, &device, cudaMemAllocationTypeManaged), cudaErrorNotSupported);
  EXPECT_EQ(cudaMemGetMemPool(&pool, &none, cudaMemAllocationTypePinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(made), cudaSuccess);
}

TEST_F(BatchTest, TheLogHoldsWhatIsReported) {
  cudaLogIterator start = 0;
  char text[64];
  size_t size = sizeof text;
  ASSERT_EQ(cudaLogsCurrent(&start, 0), cudaSuccess);
  EXPECT_EQ(cudaLogsDumpToMemory(&start, text, &size, 0), cudaSuccess);
  EXPECT_EQ(size, 0u);
  std::string heard;
  cudaLogsCallbackHandle handle;
  ASSERT_EQ(cudaLogsRegisterCallback(
                [](void* to, cudaLogLevel, char* message, size_t length) {
                  static_cast<std::string*>(to)->assign(message, length);
                },
                &heard, &handle),
            cudaSuccess);
  report("one");
  report("two");
  EXPECT_EQ(heard, "ridge: two");
  EXPECT_EQ(cudaLogsUnregisterCallback(handle), cudaSuccess);
  cudaLogIterator at = start;
  size = sizeof text;
  EXPECT_EQ(cudaLogsDumpToMemory(&at, text, &size, 0), cudaSuccess);
  EXPECT_STREQ(text, "ridge: one\nridge: two\n");
  EXPECT_EQ(size, std::strlen(text));
  size = sizeof text;
  EXPECT_EQ(cudaLogsDumpToMemory(&at, text, &size, 0), cudaSuccess);
  EXPECT_EQ(size, 0u);
  at = start;
  size = 16;  // only the newest fits
  EXPECT_EQ(cudaLogsDumpToMemory(&at, text, &size, 0), cudaSuccess);
  EXPECT_STREQ(text, "ridge: two\n");
  at = start;
  size = 4;
  EXPECT_EQ(cudaLogsDumpToMemory(&at, text, &size, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLogsCurrent(&at, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLogsUnregisterCallback(handle), cudaErrorInvalidValue);  // which is logged, too
}

TEST_F(BatchTest, AtomicsOverTheLink) {
  const cudaAtomicOperation operations[] = {cudaAtomicOperationIntegerAdd, cudaAtomicOperationCAS};
  unsigned capabilities[] = {7, 7};
  EXPECT_EQ(cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0), cudaSuccess);
  EXPECT_EQ(capabilities[0], 0u);
  EXPECT_EQ(capabilities[1], 0u);
  EXPECT_EQ(cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 0, 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 1),
            cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 0),
            cudaErrorInvalidDevice);
}

}  // namespace
}  // namespace ridge::vm::cudart
