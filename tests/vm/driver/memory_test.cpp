// Memory of every kind, copies, fills, what a pointer is, and virtual memory.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "driver_test.h"

namespace ridge::vm::driver {
namespace {

class Memory : public DriverTest {};

TEST_F(Memory, AllocationsAreChecked) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&address, size_t(1) << 50), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_OK(cuMemAlloc(&address, 1000));
  CUdeviceptr base = 0;
  size_t size = 0;
  EXPECT_OK(cuMemGetAddressRange(&base, &size, address + 400));
  EXPECT_EQ(base, address);
  EXPECT_EQ(size, 1000u);
  EXPECT_OK(cuMemFree(address));
  EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  size_t pitch = 0;
  EXPECT_OK(cuMemAllocPitch(&address, &pitch, 100, 8, 4));
  EXPECT_GE(pitch, 100u);
  EXPECT_OK(cuMemFree(address));
  EXPECT_EQ(cuMemAllocPitch(&address, &pitch, 100, 8, 3), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, FillsOfOneTwoAndFourBytes) {
  CUdeviceptr address = 0;
  ASSERT_OK(cuMemAlloc(&address, 64));
  EXPECT_OK(cuMemsetD8(address, 0x11, 64));
  EXPECT_OK(cuMemsetD16(address + 8, 0x2233, 4));
  EXPECT_OK(cuMemsetD32(address + 16, 0x44556677, 2));
  EXPECT_OK(cuMemsetD2D8(address + 32, 8, 0x99, 2, 3));
  unsigned char host[64];
  EXPECT_OK(cuMemcpyDtoH(host, address, 64));
  unsigned char expected[64];
  std::memset(expected, 0x11, 64);
  for (int i = 8; i < 16; i += 2) expected[i] = 0x33, expected[i + 1] = 0x22;
  const unsigned word = 0x44556677;
  std::memcpy(expected + 16, &word, 4);
  std::memcpy(expected + 20, &word, 4);
  for (int row = 0; row < 3; ++row) std::memset(expected + 32 + 8 * row, 0x99, 2);
  EXPECT_EQ(std::memcmp(host, expected, 64), 0);
  EXPECT_EQ(cuMemsetD16(address + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(cuMemsetD8(address, 0, 65), CUDA_SUCCESS);
}

TEST_F(Memory, RowsAndBoxes) {
  std::vector<unsigned char> host(6 * 5 * 4), out(host.size());
  std::iota(host.begin(), host.end(), 0);
  CUdeviceptr address = 0;
  ASSERT_OK(cuMemAlloc(&address, host.size()));
  EXPECT_OK(cuMemsetD8(address, 0xff, host.size()));
  CUDA_MEMCPY2D rows{};  // 3 x 2 bytes from (1, 1) to (2, 3), in rows of 6
  rows.srcMemoryType = CU_MEMORYTYPE_HOST;
  rows.srcHost = host.data();
  rows.srcPitch = rows.dstPitch = 6;
  rows.srcXInBytes = rows.srcY = 1;
  rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.dstDevice = address;
  rows.dstXInBytes = 2;
  rows.dstY = 3;
  rows.WidthInBytes = 3;
  rows.Height = 2;
  EXPECT_OK(cuMemcpy2D(&rows));
  EXPECT_OK(cuMemcpyDtoH(out.data(), address, out.size()));
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x) EXPECT_EQ(out[(y + 3) * 6 + x + 2], host[(y + 1) * 6 + x + 1]);
  EXPECT_EQ(std::count(out.begin(), out.end(), 0xff), long(out.size()) - 6);
  rows.dstPitch = 4;
  EXPECT_EQ(cuMemcpy2D(&rows), CUDA_ERROR_INVALID_VALUE);

  CUDA_MEMCPY3D box{};  // 2 x 3 x 2 out of boxes of 6 x 5
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = host.data();
  box.srcPitch = box.dstPitch = 6;
  box.srcHeight = box.dstHeight = 5;
  box.srcZ = 1;
  box.srcY = 2;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = address;
  box.WidthInBytes = 2;
  box.Height = 3;
  box.Depth = 2;
  EXPECT_OK(cuMemcpy3D(&box));
  EXPECT_OK(cuMemcpyDtoH(out.data(), address, out.size()));
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 2; ++x)
        EXPECT_EQ(out[(z * 5 + y) * 6 + x], host[((z + 1) * 5 + y + 2) * 6 + x]);
}

TEST_F(Memory, PointersSayWhatTheyAre) {
  CUdeviceptr device_memory = 0, managed = 0, mapped = 0;
  void* pinned = nullptr;
  ASSERT_OK(cuMemAlloc(&device_memory, 100));
  ASSERT_OK(cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL));
  ASSERT_OK(cuMemHostAlloc(&pinned, 100, CU_MEMHOSTALLOC_DEVICEMAP));
  EXPECT_OK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
  const auto type = [](CUdeviceptr address) {
    unsigned value = 0;
    EXPECT_OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    return value;
  };
  EXPECT_EQ(type(device_memory), unsigned(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(type(reinterpret_cast<CUdeviceptr>(pinned)), unsigned(CU_MEMORYTYPE_HOST));
  bool is_managed = false;
  int ordinal = -1;
  size_t size = 0;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* data[] = {&is_managed, &ordinal, &size};
  EXPECT_OK(cuPointerGetAttributes(3, which, data, managed + 50));
  EXPECT_TRUE(is_managed);
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(size, 100u);
  unsigned value = 0;
  int local = 0;
  EXPECT_EQ(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  reinterpret_cast<CUdeviceptr>(&local)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(cuMemFreeHost(pinned));
}

TEST_F(Memory, HostMemoryIsRegistered) {
  std::vector<float> host(4096, 1.0f);
  ASSERT_OK(cuMemHostRegister(host.data(), host.size() * 4, CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_EQ(cuMemHostRegister(host.data(), host.size() * 4, 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_OK(cuMemHostUnregister(host.data()));
  EXPECT_EQ(cuMemHostUnregister(host.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_F(Memory, PoolsAllocateInStreamOrder) {
  CUdeviceptr address = 0;
  CUmemoryPool pool = nullptr;
  cuuint64_t used = 1;
  EXPECT_OK(cuDeviceGetDefaultMemPool(&pool, device));
  ASSERT_OK(cuMemAllocAsync(&address, 1000, nullptr));
  EXPECT_OK(cuMemsetD8Async(address, 1, 1000, nullptr));
  EXPECT_OK(cuMemFreeAsync(address, nullptr));
  EXPECT_OK(cuStreamSynchronize(nullptr));
  EXPECT_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 0u);
}

class VirtualMemory : public Memory {
 protected:
  void SetUp() override {
    Memory::SetUp();
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASSERT_OK(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  }
  CUmemAllocationProp properties{};
  CUmemAccessDesc access{};
  size_t unit = 0;
};

TEST_F(VirtualMemory, TwoPiecesAreOneArray) {
  CUdeviceptr base = 0;
  CUmemGenericAllocationHandle pieces[2];
  ASSERT_OK(cuMemAddressReserve(&base, 4 * unit, 0, 0, 0));
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(cuMemCreate(&pieces[i], unit, &properties, 0));
    ASSERT_OK(cuMemMap(base + unsigned(i) * unit, unit, 0, pieces[i], 0));
  }
  EXPECT_NE(cuMemsetD8(base, 0, 1), CUDA_SUCCESS) << "not accessible yet";
  EXPECT_OK(cuMemSetAccess(base, 2 * unit, &access, 1));
  EXPECT_OK(cuMemsetD32(base, 7, 2 * unit / 4));
  EXPECT_NE(cuMemsetD8(base + 2 * unit, 0, 1), CUDA_SUCCESS) << "nothing is mapped there";

  const Module module;
  CUdeviceptr from = base + unit - 8, to = base;
  float a = 0;
  unsigned n = 4;  // across the seam
  void* arguments[] = {&from, &to, &a, &n};
  EXPECT_OK(
      cuLaunchKernel(module.function("scale"), 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  float out = 0;
  EXPECT_OK(cuMemcpyDtoH(&out, base, 4));
  EXPECT_EQ(out, 1);

  EXPECT_EQ(cuMemAddressFree(base, 4 * unit), CUDA_ERROR_INVALID_VALUE) << "still mapped";
  EXPECT_OK(cuMemUnmap(base, 2 * unit));
  EXPECT_NE(cuMemsetD8(base, 0, 1), CUDA_SUCCESS);
  for (const auto piece : pieces) EXPECT_OK(cuMemRelease(piece));
  EXPECT_OK(cuMemAddressFree(base, 4 * unit));
  EXPECT_EQ(cuMemRelease(pieces[0]), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, OnePieceAtTwoAddresses) {
  CUdeviceptr first = 0, second = 0;
  CUmemGenericAllocationHandle memory, imported;
  int descriptor = -1;
  ASSERT_OK(cuMemCreate(&memory, unit, &properties, 0));
  ASSERT_OK(cuMemExportToShareableHandle(&descriptor, memory,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  ASSERT_OK(cuMemImportFromShareableHandle(&imported,
                                           reinterpret_cast<void*>(uintptr_t(descriptor)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(descriptor);
  ASSERT_OK(cuMemAddressReserve(&first, unit, 0, 0, 0));
  ASSERT_OK(cuMemAddressReserve(&second, unit, 0, 0, 0));
  ASSERT_OK(cuMemMap(first, unit, 0, memory, 0));
  ASSERT_OK(cuMemMap(second, unit, 0, imported, 0));
  ASSERT_OK(cuMemSetAccess(first, unit, &access, 1));
  ASSERT_OK(cuMemSetAccess(second, unit, &access, 1));
  EXPECT_OK(cuMemsetD32(first, 42, 1));
  int value = 0;
  EXPECT_OK(cuMemcpyDtoH(&value, second, 4));
  EXPECT_EQ(value, 42);
  for (const CUdeviceptr address : {first, second}) {
    EXPECT_OK(cuMemUnmap(address, unit));
    EXPECT_OK(cuMemAddressFree(address, unit));
  }
  EXPECT_OK(cuMemRelease(memory));
  EXPECT_OK(cuMemRelease(imported));
}

}  // namespace
}  // namespace ridge::vm::driver
