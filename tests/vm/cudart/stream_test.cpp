// Streams and events: what runs when.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "runtime_test.h"

namespace ridge::vm::cudart {
namespace {

using Names = std::vector<std::string>;

class StreamTest : public RuntimeTest {
 protected:
  cudaStream_t make(unsigned flags = cudaStreamDefault) {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    return stream;
  }
  Gate gate_;
  Trace trace_;
};

TEST_F(StreamTest, LaunchesAreAsynchronousAndInOrder) {
  const TestKernel wait("wait", gate_.body());
  const TestKernel a("a", trace_.body("a")), b("b", trace_.body("b"));
  const cudaStream_t s = make();
  EXPECT_EQ(wait.launch(s), cudaSuccess);
  EXPECT_EQ(a.launch(s), cudaSuccess);
  EXPECT_EQ(b.launch(s), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(s), cudaErrorNotReady);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);  // not being ready is no failure
  EXPECT_TRUE(trace_.events().empty());
  gate_.open();
  EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(trace_.events(), (Names{"a", "b"}));
  EXPECT_EQ(cudaStreamQuery(s), cudaSuccess);
}

TEST_F(StreamTest, ArgumentsAreCopiedAtLaunch) {
  const TestKernel wait("wait", gate_.body());
  int seen = 0;
  const TestKernel take("take params=4", [&](const Launch& launch) {
    std::memcpy(&seen, launch.params.data(), sizeof seen);
    return Fault{};
  });
  const cudaStream_t s = make();
  int value = 7;
  wait.launch(s);
  EXPECT_EQ(take.launch(s, 1, 1, 0, {&value}), cudaSuccess);
  value = 8;
  gate_.open();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(seen, 7);
}

TEST_F(StreamTest, LegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  const TestKernel wait("wait", gate_.body());
  const TestKernel a("a", trace_.body("legacy")), b("b", trace_.body("blocking"));
  const cudaStream_t first = make(), second = make();
  wait.launch(first);
  a.launch(nullptr);  // behind `first`
  b.launch(second);   // behind the legacy stream
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(second), cudaErrorNotReady);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(trace_.events().empty());
  gate_.open();
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(trace_.events(), (Names{"legacy", "blocking"}));
}

TEST_F(StreamTest, NonBlockingStreamsStayOutOfIt) {
  const TestKernel wait("wait", gate_.body());
  const TestKernel a("a", trace_.body("legacy"));
  const cudaStream_t s = make(cudaStreamNonBlocking);
  wait.launch(s);
  a.launch(nullptr);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(trace_.events(), (Names{"legacy"}));
  EXPECT_EQ(cudaStreamQuery(s), cudaErrorNotReady);
  gate_.open();
}

TEST_F(StreamTest, PerThreadStreamsOfTwoThreadsAreApart) {
  const TestKernel wait("wait", gate_.body());
  const TestKernel a("a", trace_.body("other"));
  wait.launch(cudaStreamPerThread);
  std::thread([&] {
    a.launch(cudaStreamPerThread);
    EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
  }).join();
  EXPECT_EQ(trace_.events(), (Names{"other"}));
  gate_.open();
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
}

TEST_F(StreamTest, EventsOrderStreams) {
  const TestKernel wait("wait", gate_.body());
  const TestKernel a("a", trace_.body("a")), b("b", trace_.body("b"));
  const cudaStream_t s = make(cudaStreamNonBlocking), t = make(cudaStreamNonBlocking);
  cudaEvent_t event;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);  // never recorded: done
  wait.launch(s);
  a.launch(s);
  EXPECT_EQ(cudaEventRecord(event, s), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(t, event, 0), cudaSuccess);
  b.launch(t);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  gate_.open();
  EXPECT_EQ(cudaStreamSynchronize(t), cudaSuccess);
  EXPECT_EQ(trace_.events(), (Names{"a", "b"}));
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
}

TEST_F(StreamTest, WaitingUsesTheRecordOfThatMoment) {
  const TestKernel wait("wait", gate_.body());
  const TestKernel b("b", trace_.body("b"));
  const cudaStream_t s = make(cudaStreamNonBlocking), t = make(cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventRecord(event, s);
  cudaStreamWaitEvent(t, event, 0);
  wait.launch(s);
  cudaEventRecord(event, s);  // too late for t
  b.launch(t);
  EXPECT_EQ(cudaStreamSynchronize(t), cudaSuccess);
  EXPECT_EQ(trace_.events(), (Names{"b"}));
  gate_.open();
}

TEST_F(StreamTest, ElapsedTimeAnswersAsTheRealOne) {
  const TestKernel wait("wait", gate_.body());
  const TestKernel nap("nap", [](const Launch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Fault{};
  });
  cudaEvent_t start, stop, untimed;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  float ms = -1;
  // Never recorded.
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle);
  cudaEventRecord(start);
  nap.launch();
  cudaEventRecord(stop);
  cudaEventRecord(untimed);
  cudaEventSynchronize(stop);
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  EXPECT_GE(ms, 20.0f);
  EXPECT_LT(ms, 2000.0f);
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(nullptr, start, stop), cudaErrorInvalidValue);
  wait.launch();
  cudaEventRecord(stop);
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaErrorNotReady);
  gate_.open();
}

TEST_F(StreamTest, CallbacksAndHostFunctionsRunInOrder) {
  const TestKernel a("a", trace_.body("kernel"));
  const cudaStream_t s = make();
  a.launch(s);
  cudaLaunchHostFunc(
      s, [](void* t) { static_cast<Trace*>(t)->add("host"); }, &trace_);
  cudaStreamAddCallback(
      s,
      [](cudaStream_t, cudaError_t status, void* t) {
        static_cast<Trace*>(t)->add(cudaGetErrorName(status));
      },
      &trace_, 0);
  EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(trace_.events(), (Names{"kernel", "host", "cudaSuccess"}));
}

TEST_F(StreamTest, DestroyedStreamsFinishTheirWork) {
  const TestKernel wait("wait", gate_.body());
  const TestKernel a("a", trace_.body("a"));
  const cudaStream_t s = make(cudaStreamNonBlocking);
  wait.launch(s);
  a.launch(s);
  EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
  gate_.open();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // waits for the destroyed one, too
  EXPECT_EQ(trace_.events(), (Names{"a"}));
}

TEST_F(StreamTest, HandlesAreChecked) {
  cudaStream_t wild = reinterpret_cast<cudaStream_t>(0x1234560), made = nullptr;
  EXPECT_EQ(cudaStreamSynchronize(wild), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(cudaStreamLegacy), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamCreateWithFlags(&made, 5), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(nullptr, nullptr), cudaErrorInvalidResourceHandle);
  cudaEvent_t event;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, 64), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
}

TEST_F(StreamTest, PrioritiesAreClamped) {
  int least = 9, greatest = 9, got = 9;
  EXPECT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  cudaStream_t s;
  EXPECT_EQ(cudaStreamCreateWithPriority(&s, 0, -100), cudaSuccess);
  EXPECT_EQ(cudaStreamGetPriority(s, &got), cudaSuccess);
  EXPECT_EQ(got, greatest);
}

// More work than the queue holds, from several threads into several streams at once.
TEST_F(StreamTest, ManyLaunchesFromManyThreads) {
  std::atomic<int> ran{0};
  const TestKernel count("count", [&](const Launch&) {
    ++ran;
    return Fault{};
  });
  constexpr int kThreads = 4, kLaunches = 3000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      cudaStream_t s;
      cudaStreamCreateWithFlags(&s, t % 2 ? cudaStreamNonBlocking : cudaStreamDefault);
      for (int i = 0; i < kLaunches; ++i)
        EXPECT_EQ(count.launch(i % 100 ? s : nullptr), cudaSuccess);
      EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
      EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(ran, kThreads * kLaunches);
}

}  // namespace
}  // namespace ridge::vm::cudart
