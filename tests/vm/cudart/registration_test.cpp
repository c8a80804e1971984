// What nvcc's host code does before main and at each launch, done by hand.
#include <cstring>

#include "container.h"
#include "runtime_test.h"
#include "vm/cudart/errors.h"

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int);
char __cudaInitModule(void**);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, cudaStream_t);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
}

namespace ridge::vm::cudart {
namespace {

struct Wrapper {
  uint32_t magic = kWrapperMagic, version = 1;
  const void* data = nullptr;
  const void* units = nullptr;
};

// A unit of a program: its fat binary registered as long as this lives.
class Unit {
 public:
  explicit Unit(const std::vector<test::Entry>& entries) : bytes_(test::container(entries)) {
    wrapper_.data = bytes_.data();
    handle_ = __cudaRegisterFatBinary(&wrapper_);
  }
  ~Unit() { __cudaUnregisterFatBinary(handle_); }
  void function(const void* host, const char* name) {
    __cudaRegisterFunction(handle_, static_cast<const char*>(host), nullptr, name, -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
  }
  void variable(void* host, const char* name, size_t size) {
    __cudaRegisterVar(handle_, static_cast<char*>(host), nullptr, name, 0, size, 0, 0);
  }
  void** handle() { return handle_; }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  Wrapper wrapper_;
  void** handle_ = nullptr;
};

using Registration = RuntimeTest;

TEST_F(Registration, ALaunchAsNvccWritesIt) {
  Unit unit({{.text = "kernel k params=8,4\n"}});
  char stub = 0;
  unit.function(&stub, "k");
  Launch seen;
  fake::on_run("k", [&](const Launch& launch) {
    seen = launch;
    return Fault{};
  });

  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, &stub), cudaSuccess);
  ASSERT_EQ(__cudaPushCallConfiguration(dim3(2, 3, 4), dim3(8, 2), 100, nullptr), 0u);
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = reinterpret_cast<cudaStream_t>(1);
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
            cudaErrorMissingConfiguration);
  void* pointer = &unit;
  int number = 42;
  void* arguments[] = {&pointer, &number};
  ASSERT_EQ(__cudaLaunchKernel(kernel, grid, block, arguments, shared, stream), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(seen.grid.count(), 24u);
  EXPECT_EQ(seen.block.x, 8u);
  EXPECT_EQ(seen.block.y, 2u);
  EXPECT_EQ(seen.dynamic_shared, 100u);
  ASSERT_EQ(seen.params.size(), 12u);
  EXPECT_EQ(std::memcmp(seen.params.data(), &pointer, 8), 0);
  EXPECT_EQ(std::memcmp(seen.params.data() + 8, &number, 4), 0);
}

TEST_F(Registration, LoadingWaitsForTheFirstUse) {
  Unit broken({{.text = "this is no module\n"}}), good({{.text = "kernel good\n"}});
  char broken_stub = 0, good_stub = 0;
  broken.function(&broken_stub, "k");
  good.function(&good_stub, "good");
  EXPECT_EQ(cudaLaunchKernel(&good_stub, 1, 1, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(&broken_stub, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidPtx);
  EXPECT_EQ(cudaLaunchKernel(&broken_stub, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidPtx);
  EXPECT_EQ(cudaLaunchKernel(&good_stub, 1, 1, nullptr, 0, nullptr), cudaSuccess);
}

TEST_F(Registration, DamagedAndMissingImagesAreErrorsNotCrashes) {
  char stub = 0;
  cudaFuncAttributes attributes;
  {
    Unit unit({{.text = "kernel k\n"}});
    unit.function(&stub, "k");
    unit.bytes()[16 + 8] = 0xff;  // the payload's size
    EXPECT_EQ(cudaLaunchKernel(&stub, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidKernelImage);
  }
  {
    Unit unit({{.text = "kernel k\n", .arch = 100}});
    unit.function(&stub, "k");
    EXPECT_EQ(cudaLaunchKernel(&stub, 1, 1, nullptr, 0, nullptr), cudaErrorNoKernelImageForDevice);
    EXPECT_EQ(cudaFuncGetAttributes(&attributes, &stub), cudaErrorNoKernelImageForDevice);
  }
  {
    Unit unit({{.text = "kernel other\n"}});
    unit.function(&stub, "k");
    EXPECT_EQ(cudaLaunchKernel(&stub, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  }
  // Unregistered.
  EXPECT_EQ(cudaLaunchKernel(&stub, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaMemcpyToSymbol(&stub, &stub, 1, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
}

TEST_F(Registration, VariablesOfEveryUnitAreFound) {
  Unit first({{.text = "variable v 16\n"}}), second({{.text = "variable v 32\n"}});
  char a = 0, b = 0;
  first.variable(&a, "v", 16);
  second.variable(&b, "v", 32);
  size_t size = 0;
  void *pa = nullptr, *pb = nullptr;
  EXPECT_EQ(cudaGetSymbolSize(&size, &b), cudaSuccess);
  EXPECT_EQ(size, 32u);
  EXPECT_EQ(cudaGetSymbolAddress(&pa, &a), cudaSuccess);
  EXPECT_EQ(cudaGetSymbolAddress(&pb, &b), cudaSuccess);
  EXPECT_NE(pa, pb);

  int in[4] = {1, 2, 3, 4}, out[4] = {};
  EXPECT_EQ(cudaMemcpyToSymbol(&a, in, 16, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(out, &a, 8, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 4);
  EXPECT_EQ(cudaMemcpyToSymbol(&a, in, 17, 0, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&a, in, 8, 12, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&a, in, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaFree(pa), cudaErrorInvalidValue);  // a variable is not freed
}

TEST_F(Registration, ManagedVariablesHaveAnAddressAfterInit) {
  Unit unit({{.text = "variable m 4\n"}});
  void* pointer = nullptr;
  __cudaRegisterManagedVar(unit.handle(), &pointer, nullptr, "m", 0, 4, 0, 0);
  EXPECT_NE(__cudaInitModule(unit.handle()), 0);
  ASSERT_NE(pointer, nullptr);
  *static_cast<int*>(pointer) = 3;
}

TEST_F(Registration, AResetLoadsAgain) {
  Unit unit({{.text = "kernel k\nvariable v 4\n"}});
  char stub = 0, variable = 0;
  unit.function(&stub, "k");
  unit.variable(&variable, "v", 4);
  EXPECT_EQ(cudaLaunchKernel(&stub, 1, 1, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(&stub, 1, 1, nullptr, 0, nullptr), cudaSuccess);
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &variable), cudaSuccess);
}

TEST_F(Registration, PerThreadLaunchesGoToTheThreadsOwnStream) {
  Unit unit({{.text = "kernel wait\nkernel k\n"}});
  char wait_stub = 0, stub = 0;
  unit.function(&wait_stub, "wait");
  unit.function(&stub, "k");
  Gate gate;
  fake::on_run("wait", gate.body());
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaKernel_t wait, k;
  __cudaGetKernel(&wait, &wait_stub);
  __cudaGetKernel(&k, &stub);
  EXPECT_EQ(__cudaLaunchKernel_ptsz(wait, 1, 1, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(other), cudaSuccess);
  gate.open();
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
}

}  // namespace
}  // namespace ridge::vm::cudart
