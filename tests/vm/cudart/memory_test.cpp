// Allocation, copies and fills: the codes here are those an H200 gave for the same calls.
#include <cstring>
#include <numeric>
#include <thread>

#include "runtime_test.h"

namespace ridge::vm::cudart {
namespace {

class MemoryTest : public RuntimeTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device_), 1024), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&large_), 4 << 20), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&pinned_), 1024), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&managed_), 1024, cudaMemAttachGlobal),
              cudaSuccess);
  }
  char *device_ = nullptr, *large_ = nullptr, *pinned_ = nullptr, *managed_ = nullptr;
  char host_[2048] = {};
};

TEST_F(MemoryTest, TheDirectionSaysWhichSideMustBeKnown) {
  const cudaMemcpyKind h2h = cudaMemcpyHostToHost, h2d = cudaMemcpyHostToDevice,
                       d2h = cudaMemcpyDeviceToHost, d2d = cudaMemcpyDeviceToDevice,
                       any = cudaMemcpyDefault;
  const cudaError_t ok = cudaSuccess, bad = cudaErrorInvalidValue;
  char* host = host_;
  struct Case {
    char *to, *from;
    cudaMemcpyKind kind;
    cudaError_t expected;
  };
  const Case cases[] = {
      {host, device_, h2d, bad},
      {device_, host, d2h, bad},
      {host, host + 1024, h2d, bad},
      {host, host + 1024, d2d, bad},
      {device_, host, h2h, ok},
      {device_, large_, h2d, ok},
      {device_, large_, d2h, ok},
      {device_, large_, h2h, ok},
      {device_, host, d2d, bad},
      {host, host + 1024, any, ok},
      {device_, host, any, ok},
      {host, pinned_, d2h, ok},
      {pinned_, host, h2d, ok},
      {managed_, host, h2d, ok},
      {managed_, host, h2h, ok},
      {device_, host, h2d, ok},
      {host, device_, d2h, ok},
      {device_, large_, d2d, ok},
      {nullptr, host, h2d, bad},
      {device_, nullptr, h2d, bad},
      {device_, host, cudaMemcpyKind(99), cudaErrorInvalidMemcpyDirection},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(cudaMemcpy(c.to, c.from, 1024, c.kind), c.expected) << "case " << &c - cases;
    EXPECT_EQ(cudaMemcpyAsync(c.to, c.from, 1024, c.kind, nullptr), c.expected)
        << "case " << &c - cases;
    EXPECT_EQ(cudaMemcpy(c.to, c.from, 0, c.kind), cudaSuccess);
  }
}

TEST_F(MemoryTest, RangesEndWhereTheAllocationDoes) {
  const cudaError_t bad = cudaErrorInvalidValue;
  EXPECT_EQ(cudaMemcpy(device_, host_, 1025, cudaMemcpyHostToDevice), bad);
  EXPECT_EQ(cudaMemcpy(device_ + 1, host_, 1024, cudaMemcpyHostToDevice), bad);
  EXPECT_EQ(cudaMemcpy(host_, device_, 1025, cudaMemcpyDeviceToHost), bad);
  EXPECT_EQ(cudaMemcpy(large_, device_, 1025, cudaMemcpyDeviceToDevice), bad);
  EXPECT_EQ(cudaMemcpy(pinned_, host_, 1025, cudaMemcpyDefault), bad);
  EXPECT_EQ(cudaMemset(device_, 0, 1025), bad);
  EXPECT_EQ(cudaMemset(host_, 0, 16), bad);  // pageable memory is not the device's
  EXPECT_EQ(cudaMemset(pinned_, 0, 16), cudaSuccess);
  EXPECT_EQ(cudaMemset(managed_, 0, 16), cudaSuccess);
  EXPECT_EQ(cudaMemset(nullptr, 0, 0), cudaSuccess);
  EXPECT_EQ(cudaMemset(nullptr, 0, 1), bad);
  EXPECT_EQ(cudaMemcpy2D(device_, 64, host_, 32, 64, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(device_, 64, host_, 64, 64, 16, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(device_, 64, host_, 64, 64, 17, cudaMemcpyHostToDevice), bad);
  EXPECT_EQ(cudaMemset2D(device_, 64, 0, 64, 16), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(device_, 64, 0, 64, 17), bad);
  EXPECT_EQ(cudaMemset2D(device_, 64, 0, 65, 2), bad);
  // Wraps around.
  EXPECT_EQ(cudaMemcpy2D(device_, size_t(1) << 63, host_, 64, 64, 3, cudaMemcpyHostToDevice), bad);
  EXPECT_EQ(cudaMemcpy2D(device_, size_t(1) << 40, host_, 64, 64, 1, cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaMemset2D(device_, size_t(1) << 63, 0, 64, 3), bad);
}

TEST_F(MemoryTest, RowsAndBoxesArriveWhereTheyShould) {
  unsigned char from[6 * 10], to[6 * 10] = {};
  std::iota(std::begin(from), std::end(from), 1);
  ASSERT_EQ(cudaMemcpy2D(device_, 32, from, 10, 7, 6, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2D(to, 10, device_, 32, 7, 6, cudaMemcpyDeviceToHost), cudaSuccess);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x)
      EXPECT_EQ(to[y * 10 + x], x < 7 ? from[y * 10 + x] : 0) << x << ' ' << y;

  cudaPitchedPtr box;
  ASSERT_EQ(cudaMalloc3D(&box, {10, 3, 2}), cudaSuccess);
  EXPECT_EQ(box.pitch, 512u);
  EXPECT_EQ(box.xsize, 10u);
  cudaMemcpy3DParms p{};
  p.srcPtr = {from, 10, 10, 3};
  p.dstPtr = box;
  p.extent = {10, 3, 2};
  p.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  std::memset(to, 0, sizeof to);
  p.srcPtr = box;
  p.srcPos = {2, 1, 1};  // one row of the second slice
  p.dstPtr = {to, 10, 10, 3};
  p.extent = {5, 1, 1};
  p.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  for (int x = 0; x < 5; ++x) EXPECT_EQ(to[x], from[30 + 10 + 2 + x]);
  p.extent = {5, 3, 2};  // reaches over the rows' end
  p.srcPos = {508, 0, 0};
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);

  ASSERT_EQ(cudaMemset3D(box, 7, {10, 3, 2}), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(to, static_cast<char*>(box.ptr) + 512 * 5, 10, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(to[9], 7);
  EXPECT_EQ(cudaMemset3D(box, 7, {10, 3, 3}), cudaErrorInvalidValue);
}

TEST_F(MemoryTest, FreeingIsChecked) {
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(host_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device_ + 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pinned_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device_), cudaSuccess);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaFree(device_), cudaErrorInvalidValue);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("double free"), std::string::npos);
  EXPECT_EQ(cudaFreeHost(large_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pinned_), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(managed_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(managed_), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device_, host_, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);  // freed
}

TEST_F(MemoryTest, NothingIsANullPointer) {
  void* p = this;
  size_t pitch = 9;
  EXPECT_EQ(cudaMalloc(&p, 0), cudaSuccess);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(cudaMallocPitch(&p, &pitch, 100, 0), cudaSuccess);
  EXPECT_EQ(pitch, 0u);
  EXPECT_EQ(cudaMallocPitch(&p, &pitch, 513, 2), cudaSuccess);
  EXPECT_EQ(pitch, 1024u);
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(&p, size_t(1) << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocManaged(&p, 16, 7), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostAlloc(&p, 16, 64), cudaErrorInvalidValue);
}

TEST_F(MemoryTest, PointersSayWhatTheyAre) {
  cudaPointerAttributes a;
  struct Case {
    char* pointer;
    cudaMemoryType type;
    bool device, host;
  };
  const Case cases[] = {{host_, cudaMemoryTypeUnregistered, false, true},
                        {device_ + 5, cudaMemoryTypeDevice, true, false},
                        {pinned_ + 5, cudaMemoryTypeHost, true, true},
                        {managed_ + 5, cudaMemoryTypeManaged, true, true}};
  for (const Case& c : cases) {
    ASSERT_EQ(cudaPointerGetAttributes(&a, c.pointer), cudaSuccess);
    EXPECT_EQ(a.type, c.type);
    EXPECT_EQ(a.device, c.device ? 0 : cudaInvalidDeviceId);
    EXPECT_EQ(a.devicePointer, c.device ? c.pointer : nullptr);
    EXPECT_EQ(a.hostPointer, c.host ? c.pointer : nullptr);
  }
  void* mapped = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&mapped, pinned_ + 16, 0), cudaSuccess);
  EXPECT_EQ(mapped, pinned_ + 16);
  EXPECT_EQ(cudaHostGetDevicePointer(&mapped, host_, 0), cudaErrorInvalidValue);
  unsigned flags = 0;
  EXPECT_EQ(cudaHostGetFlags(&flags, pinned_), cudaSuccess);
  EXPECT_EQ(flags, unsigned(cudaHostAllocMapped));
}

TEST_F(MemoryTest, RegisteredHostMemory) {
  alignas(4096) static char page[8192];
  EXPECT_EQ(cudaHostRegister(page, sizeof page, 0), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(page + 4096, 100, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostUnregister(page + 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(page, 5, sizeof page), cudaSuccess);
  EXPECT_EQ(page[8191], 5);
  EXPECT_EQ(cudaHostUnregister(page), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(page), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostRegister(device_, 16, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(page, 0, 0), cudaErrorInvalidValue);
}

// Pageable memory may be reused when the call returns, though the copy has not happened.
TEST_F(MemoryTest, SmallPageableCopiesAreStaged) {
  Gate gate;
  const TestKernel wait("wait", gate.body());
  wait.launch();
  host_[0] = 1;
  ASSERT_EQ(cudaMemcpyAsync(device_, host_, 4, cudaMemcpyHostToDevice, nullptr), cudaSuccess);
  host_[0] = 2;
  gate.open();
  char seen = 0;
  ASSERT_EQ(cudaMemcpy(&seen, device_, 1, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(seen, 1);
}

TEST_F(MemoryTest, PoolsFreeInStreamOrder) {
  Gate gate;
  const TestKernel wait("wait", gate.body());
  cudaStream_t s;
  cudaStreamCreate(&s);
  void* p = nullptr;
  ASSERT_EQ(cudaMallocAsync(&p, 64, s), cudaSuccess);
  cudaMemPool_t pool;
  uint64_t used = 0;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 64u);
  wait.launch(s);
  EXPECT_EQ(cudaFreeAsync(p, s), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(p, s), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(p, 0, 64, nullptr), cudaSuccess);  // still there for other streams
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(cudaMemset(p, 0, 64), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 0u);
  EXPECT_EQ(cudaMallocAsync(&p, 0, s), cudaSuccess);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(cudaMallocAsync(&p, 64, s), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(host_, s), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
}

TEST_F(MemoryTest, HintsCheckTheirArguments) {
  const cudaMemLocation here{cudaMemLocationTypeDevice, 0}, nowhere{cudaMemLocationTypeDevice, 9};
  EXPECT_EQ(cudaMemPrefetchAsync(managed_, 1024, here, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(managed_, 1025, here, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPrefetchAsync(managed_, 1024, nowhere, 0, nullptr), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemPrefetchAsync(device_, 1024, here, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemAdvise(managed_, 1024, cudaMemAdviseSetReadMostly, here), cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(managed_, 1024, cudaMemoryAdvise(99), here), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemAdvise(device_, 1024, cudaMemAdviseSetReadMostly, here), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ridge::vm::cudart
