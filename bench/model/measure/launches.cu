// What launches cost: kernels in a stream, nodes of a graph, events, memsets, streams side by side.
#include "measure.h"

#include <chrono>

namespace measure {
namespace {

__global__ void nothing() {}
struct Large {
  char bytes[2048];
};
__global__ void nothing_with(Large) {}
__global__ void wait_ns(unsigned ns) {
  u64 start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < ns);
}
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
__global__ void dependent() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
#else
__global__ void dependent() {}
#endif

using Clock = std::chrono::steady_clock;
double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

template <class Work>
Samples host_us(int n, int per, Work work) {
  Samples samples;
  for (int i = -2; i < n; ++i) {
    CHECK(cudaStreamSynchronize(stream()));
    const auto start = Clock::now();
    work();
    if (i >= 0) samples.push_back(us_since(start) / per);
  }
  CHECK(cudaStreamSynchronize(stream()));
  return samples;
}

void launch_dependent() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 1, config.blockDim = 32, config.stream = stream();
  config.attrs = &attribute, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, dependent));
}

}  // namespace

void launches() {
  const int sms = card().sms;
  const auto null = [] { nothing<<<1, 32, 0, stream()>>>(); };
  add("event.between_two", time_us(31, [] {}), "us", "two events with nothing between them");
  add("event.around_kernel", time_us(31, null), "us",
      "two events around an empty kernel of one block");
  add("event.around_kernel_cold", time_us(31, make_cold, null), "us",
      "the same behind a memset of twice the L2, as the harness does it");
  add("event.around_two_kernels", time_us(31, make_cold, [&] { null(), null(); }), "us",
      "two empty kernels");
  add("event.around_full_grid",
      time_us(31, make_cold, [&] { nothing<<<sms * 8, 256, 0, stream()>>>(); }), "us",
      "an empty kernel of 8 blocks of 256 threads per SM");
  add("launch.host",
      host_us(9, 500,
              [&] {
                for (int i = 0; i < 500; ++i) null();
              }),
      "us", "how long the host takes for a launch, 500 in a row");
  add("launch.in_stream",
      scaled(time_us(9,
                     [&] {
                       for (int i = 0; i < 500; ++i) null();
                     }),
             1 / 500.0),
      "us", "500 empty kernels in a row between two events, per kernel");
  add("launch.in_stream_large_arguments",
      scaled(time_us(9,
                     [&] {
                       for (int i = 0; i < 500; ++i) nothing_with<<<1, 32, 0, stream()>>>(Large{});
                     }),
             1 / 500.0),
      "us", "the same with 2048 bytes of arguments");
  add("launch.and_wait",
      host_us(31, 1,
              [&] {
                null();
                CHECK(cudaStreamSynchronize(stream()));
              }),
      "us", "launch of an empty kernel and cudaStreamSynchronize, on the host's clock");
  if (card().arch >= 900)
    add("launch.programmatic",
        scaled(time_us(9,
                       [&] {
                         for (int i = 0; i < 500; ++i) launch_dependent();
                       }),
               1 / 500.0),
        "us", "empty kernels with programmatic stream serialization, per kernel");
  {
    Curve curve("graph.us_by_nodes", "empty kernels in the graph", "us",
                "a chain; the whole graph between two events");
    for (const int nodes : {1, 2, 4, 8, 16, 32, 64, 128})
      curve.at(nodes, scaled(graph_us(15, nodes, [&](int) { null(); }), nodes));
  }
  add("graph.node_full_grid",
      graph_us(15, 32, [&](int) { nothing<<<sms * 8, 256, 0, stream()>>>(); }), "us",
      "per node of a chain of 32: an empty kernel of 8 blocks of 256 threads per SM");
  add("graph.node_1us", graph_us(15, 32, [&](int) { wait_ns<<<1, 32, 0, stream()>>>(1000); }), "us",
      "per node of a chain of 32 kernels that wait for 1 us by %globaltimer");
  if (card().arch >= 900)
    add("graph.node_programmatic", graph_us(15, 32, [&](int) { launch_dependent(); }), "us",
        "per node of a chain of 32 empty kernels with programmatic stream serialization");
  {
    // N kernels of 20 µs, each in a stream of its own.
    Curve curve(
        "streams.us_by_kernels", "kernels", "us",
        "kernels of one block that wait for 20 us, each in a stream of its own; host's clock");
    std::vector<cudaStream_t> streams(128);
    for (auto& s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (const int kernels : {1, 2, 4, 8, 16, 32, 64, 128})
      curve.at(kernels, host_us(9, 1, [&] {
                 for (int i = 0; i < kernels; ++i) wait_ns<<<1, 32, 0, streams[size_t(i)]>>>(20000);
                 CHECK(cudaDeviceSynchronize());
               }));
    for (auto& s : streams) CHECK(cudaStreamDestroy(s));
  }
  {
    void* const data = device_memory(size_t(1) << 30);
    Curve sets("memset.us_by_bytes", "bytes", "us", "cudaMemsetAsync between two events");
    Curve copies("memcpy_device.us_by_bytes", "bytes", "us",
                 "cudaMemcpyAsync within the device, between two events");
    for (size_t bytes = 1024; bytes <= size_t(1) << 29; bytes *= 8) {
      sets.at(double(bytes),
              time_us(9, make_cold, [&] { CHECK(cudaMemsetAsync(data, 1, bytes, stream())); }));
      copies.at(double(bytes), time_us(9, make_cold, [&] {
                  CHECK(cudaMemcpyAsync(data, static_cast<char*>(data) + (size_t(1) << 29), bytes,
                                        cudaMemcpyDeviceToDevice, stream()));
                }));
    }
  }
}

}  // namespace measure
