// Copies between host and device, and kernels that read the host's memory.
#include "measure.h"

#include <chrono>
#include <cstring>

namespace measure {
namespace {

__global__ void read_host(const uint4* in, size_t count, u32* sink) {
  u32 sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    const uint4 v = in[i];
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x12345678) *sink = sum;
}

}  // namespace

void link() {
  const size_t most = size_t(256) << 20;
  char* const device = static_cast<char*>(device_memory(most));
  char *pinned, *pinned2;
  CHECK(cudaMallocHost(&pinned, most));
  CHECK(cudaMallocHost(&pinned2, most));
  char* const pageable = static_cast<char*>(std::malloc(most));
  std::memset(pinned, 1, most);
  std::memset(pageable, 1, most);
  u32* const sink = static_cast<u32*>(device_memory(4));
  using Clock = std::chrono::steady_clock;
  const auto host_us = [&](int n, auto work) {
    Samples samples;
    for (int i = -1; i < n; ++i) {
      CHECK(cudaDeviceSynchronize());
      const auto start = Clock::now();
      work();
      const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      if (i >= 0) samples.push_back(us);
    }
    return samples;
  };
  {
    Curve down("link.to_device_pinned", "bytes", "us",
               "cudaMemcpyAsync from pinned memory, between two events");
    Curve up("link.to_host_pinned", "bytes", "us",
             "cudaMemcpyAsync to pinned memory, between two events");
    Curve down_pageable("link.to_device_pageable", "bytes", "us",
                        "cudaMemcpy from malloc's memory, host's clock");
    Curve up_pageable("link.to_host_pageable", "bytes", "us",
                      "cudaMemcpy to malloc's memory, host's clock");
    for (size_t bytes = 4; bytes <= most; bytes *= bytes < 4096 ? 32 : 8) {
      const int n = bytes > (16u << 20) ? 5 : 15;
      down.at(double(bytes), time_us(n, [&] {
                CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream()));
              }));
      up.at(double(bytes), time_us(n, [&] {
              CHECK(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream()));
            }));
      down_pageable.at(double(bytes), host_us(n, [&] {
                         CHECK(cudaMemcpy(device, pageable, bytes, cudaMemcpyHostToDevice));
                       }));
      up_pageable.at(double(bytes), host_us(n, [&] {
                       CHECK(cudaMemcpy(pageable, device, bytes, cudaMemcpyDeviceToHost));
                     }));
    }
  }
  cudaStream_t other;
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  add("link.both_ways",
      rate(host_us(5,
                   [&] {
                     CHECK(cudaMemcpyAsync(device, pinned, most / 2, cudaMemcpyHostToDevice,
                                           stream()));
                     CHECK(cudaMemcpyAsync(pinned2, device + most / 2, most / 2,
                                           cudaMemcpyDeviceToHost, other));
                     CHECK(cudaDeviceSynchronize());
                   }),
           double(most) / 1e3),
      "GB/s", "128 MiB each way at once, pinned; both counted");
  CHECK(cudaStreamDestroy(other));
  void* seen = nullptr;
  if (card().p.canMapHostMemory && cudaHostGetDevicePointer(&seen, pinned, 0) == cudaSuccess)
    add("link.kernel_reads_host",
        rate(time_us(5,
                     [&] {
                       read_host<<<card().sms * 4, 256, 0, stream()>>>(
                           static_cast<const uint4*>(seen), most / 4 / 16, sink);
                     }),
             double(most) / 4 / 1e3),
        "GB/s", "a kernel reads 64 MiB of pinned memory, 16 bytes per load");
}

}  // namespace measure
