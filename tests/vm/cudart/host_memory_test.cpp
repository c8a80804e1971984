// The host runs out of memory: every allocation of a program's life fails once, in turn, and once
// more with all that follow it. The call answers the right code, what it had begun is gone, and the
// same program works right after.
//
// With the real engine. malloc is this file's: `budget` says how many more allocations succeed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "vm/cudart/api.h"
#include "vm/cudart/logs.h"
#include "vm/cudart/runtime.h"

namespace {

constexpr long kUnlimited = -1;
std::atomic<long> budget{kUnlimited};
std::atomic<bool> keeps_failing{false};
std::atomic<long> live{0};  // allocations

bool may_allocate() {
  long left = budget.load();
  while (left != kUnlimited) {
    if (left == 0) {
      if (!keeps_failing) budget.compare_exchange_strong(left, kUnlimited);
      return false;
    }
    if (budget.compare_exchange_weak(left, left - 1)) return true;
  }
  return true;
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // has a malloc of its own
void* operator new(size_t size) {
  if (!may_allocate()) throw std::bad_alloc();
  void* p = std::malloc(size ? size : 1);
  if (!p) throw std::bad_alloc();
  ++live;
  return p;
}
void operator delete(void* p) noexcept {
  live -= p != nullptr;
  std::free(p);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }
#else
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static void* counted(void* p) {
  live += p != nullptr;
  return p;
}
static void* none() {
  errno = ENOMEM;
  return nullptr;
}
void* malloc(size_t size) { return may_allocate() ? counted(__libc_malloc(size)) : none(); }
void* calloc(size_t n, size_t size) {
  return may_allocate() ? counted(__libc_calloc(n, size)) : none();
}
void* realloc(void* p, size_t size) {
  if (p) return may_allocate() ? __libc_realloc(p, size) : none();
  return malloc(size);
}
void* aligned_alloc(size_t align, size_t size) {
  return may_allocate() ? counted(__libc_memalign(align, size)) : none();
}
int posix_memalign(void** p, size_t align, size_t size) {
  *p = aligned_alloc(align, size);
  return *p ? 0 : ENOMEM;
}
void free(void* p) {
  live -= p != nullptr;
  __libc_free(p);
}
}
#endif

namespace ridge::vm::cudart {
namespace {

constexpr char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 bias[2] = {1000, 7};
.func (.param .b32 r) twice(.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.s32 %r2, %r1, %r1;
  st.param.b32 [r], %r2;
  ret;
}
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.s32 %r3, %r2, 64, %r1;
  setp.lt.s32 %p1, %r1, 8;
  @%p1 bra SMALL;
  add.s32 %r3, %r3, 0;
SMALL:
  { .param .b32 in; .param .b32 back;
    st.param.b32 [in], %r3;
    call (back), twice, (in);
    ld.param.b32 %r4, [back]; }
  ld.global.u32 %r5, [bias];
  add.s32 %r6, %r4, %r5;
  bar.sync 0;
  mul.wide.s32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r6;
  ret;
}
)";
constexpr int kBlocks = 3, kThreads = 64, kCount = kBlocks * kThreads;

bool is_shortage(cudaError_t error) {
  return error == cudaErrorMemoryAllocation || error == cudaErrorOperatingSystem;
}

// A program from loading to unloading: its first error, or success with the right result.
struct Life {
  cudaError_t error = cudaSuccess;
  bool right = false;

  bool does(cudaError_t code) {
    if (error == cudaSuccess) error = code;
    return code == cudaSuccess;
  }

  void live_it() {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    void *device = nullptr, *pinned = nullptr;
    const bool ready =
        does(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0)) &&
        does(cudaLibraryGetKernel(&kernel, library, "k")) &&
        does(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) &&
        does(cudaEventCreate(&event)) && does(cudaMalloc(&device, kCount * 4)) &&
        does(cudaMallocHost(&pinned, kCount * 4));
    if (ready) {
      void* arguments[] = {&device};
      char staged[kCount * 4] = {};
      if (does(cudaMemsetAsync(device, 0xff, kCount * 4, stream)) &&
          does(cudaMemcpyAsync(device, staged, sizeof staged, cudaMemcpyHostToDevice, stream)) &&
          does(cudaLaunchKernel(kernel, kBlocks, kThreads, arguments, 0, stream)) &&
          does(cudaMemcpyAsync(pinned, device, kCount * 4, cudaMemcpyDeviceToHost, stream)) &&
          does(cudaEventRecord(event, stream)) && does(cudaEventSynchronize(event)) &&
          does(cudaStreamSynchronize(stream))) {
        right = true;
        for (int i = 0; i < kCount; ++i) {
          int value;
          std::memcpy(&value, static_cast<char*>(pinned) + 4 * i, sizeof value);
          right &= value == 2 * i + 1000;
        }
      }
    }
    budget = kUnlimited;  // what is there is given back, whatever happened
    cudaDeviceSynchronize();
    if (pinned) cudaFreeHost(pinned);
    if (device) cudaFree(device);
    if (event) cudaEventDestroy(event);
    if (stream) cudaStreamDestroy(stream);
    if (library) cudaLibraryUnload(library);
  }
};

// What a program must find after the shortage: nothing of the failed one, and a working device.
// Says what is wrong.
std::string aftermath(const Life& failed) {
  if (failed.error != cudaSuccess && !is_shortage(failed.error))
    return std::string("the error is ") + cudaGetErrorName(failed.error);
  if (failed.error == cudaSuccess && !failed.right) return "a wrong result without an error";
  // Memory that ran out while a kernel ran is a fault of the device, which a reset heals.
  if (cudaDeviceSynchronize() != cudaSuccess && cudaDeviceReset() != cudaSuccess)
    return "the device stays dead";
  cudaGetLastError();
  if (runtime().engine.memory().used() != 0) return "device memory is lost";
  if (!runtime().engine.memory().live().empty()) return "an allocation is lost";
  Life next;
  next.live_it();
  if (next.error != cudaSuccess)
    return std::string("the next program gets ") + cudaGetErrorName(next.error);
  return next.right ? "" : "the next program's result is wrong";
}

Life life_with(long allocations, bool and_all_after) {
  Life life;
  keeps_failing = and_all_after;
  budget = allocations;
  life.live_it();
  return life;
}

class HostMemory : public ::testing::TestWithParam<bool> {};

// Each in a process of its own: the runtime, its threads and its tables start in the shortage, too.
TEST_P(HostMemory, FirstProgramOfAProcess) {
  setenv("RIDGE_THREADS", "2", 1);
  // The instruction tables make thousands of like entries: of those, a sample.
  int n = 0;
  for (bool failed = true; failed; n += n < 200 ? 1 : 43) {
    std::fflush(nullptr);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      (void)!freopen("/dev/null", "w", stderr);
      const Life life = life_with(n, GetParam());
      const std::string wrong = aftermath(life);
      if (!wrong.empty()) std::printf("allocation %d: %s\n", n, wrong.c_str());
      std::fflush(stdout);
      _exit(!wrong.empty() ? 1 : life.error != cudaSuccess ? 2 : 3);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "allocation " << n << ": signal " << WTERMSIG(status);
    ASSERT_NE(WEXITSTATUS(status), 1) << "allocation " << n;
    failed = WEXITSTATUS(status) == 2 || n < 50;  // a failure may be made good inside
  }
  std::printf("up to allocation %d\n", n);
}

// In one process, where what a failed program leaves behind would add up.
TEST_P(HostMemory, NothingIsLeft) {
  setenv("RIDGE_THREADS", "2", 1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    (void)!freopen("/dev/null", "w", stderr);
    constexpr int kRuns = 8;  // a leak is there every time
    bool failed = true;
    const auto growth = [&](long n, int runs, long usual) {
      const long before = live;
      for (int i = 0; i < runs; ++i) {
        const Life life = life_with(n, GetParam());
        if (cudaDeviceSynchronize() != cudaSuccess) cudaDeviceReset();
        cudaGetLastError();
        failed = life.error != cudaSuccess;
        if (failed && !is_shortage(life.error)) _exit(4);
      }
      for (int i = 0; i < 20 && live - before > usual; ++i)
        usleep(1000);  // a stream's thread ends some time after the stream
      return live - before;
    };
    for (int i = 0; i < 200; ++i) log_message("the log is full: it forgets a message for each one");
    growth(kUnlimited, kRuns, 0);
    long usual = 0;  // the device remembers what was freed
    for (int i = 0; i < 3; ++i) usual = std::max(usual, growth(kUnlimited, kRuns, 0));
    usual += kRuns / 4;
    int n = 0;
    for (; failed || n < 50; ++n) {
      long grown = growth(n, 1, LONG_MAX);
      for (int i = 0; i < 3 && grown > 0; ++i)  // caches grow, but not for ever
        if ((grown = growth(n, kRuns, usual)) <= usual) grown = 0;
      if (grown <= 0) continue;
      std::printf("allocation %d leaves %ld in %d runs, of which %ld are usual\n", n, grown, kRuns,
                  usual);
      std::fflush(stdout);
      _exit(1);
    }
    std::printf("%d allocations\n", n);
    std::fflush(stdout);
    _exit(aftermath({.right = true}).empty() ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

INSTANTIATE_TEST_SUITE_P(Cudart, HostMemory, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Drought" : "Once"; });

}  // namespace
}  // namespace ridge::vm::cudart
