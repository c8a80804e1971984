// 08_streams: copy while computing; two streams and two buffers keep every part of the device busy.
//
// A GPU copies in, computes and copies out with three separate engines. Work in one stream runs in
// order, so with one stream two engines always wait for the third. Here the data is cut into
// chunks, which go in turn to two streams with a buffer each: one chunk is copied while the other
// is computed. Only pinned host memory can be copied while the host does something else.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "common/args.h"
#include "common/check.h"

constexpr int kBlock = 256;
constexpr int kStreams = 2;
constexpr int kSteps = 8;      // each step of Newton doubles the right digits: enough up to 100
constexpr int kTimedRuns = 3;  // the fastest counts: whatever disturbs a run makes it slower

// Square roots by Newton's method, in place.
__global__ void newton_sqrt(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = values[i];
  float root = a;
  for (int step = 0; step < kSteps; ++step) root = 0.5f * (root + a / root);
  values[i] = root;
}

struct Pipeline {
  int n;
  int chunk;                // elements per chunk; the last chunk may be shorter
  float* in;                // (n), pinned
  float* out;               // (n), pinned
  float* buffer[kStreams];  // (chunk) each, on the device
  cudaStream_t stream[kStreams];
};

enum Stage { kCopyIn = 1, kCompute = 2, kCopyOut = 4, kEverything = 7 };

// Queues all chunks and returns at once. A stream is a queue: a chunk's three stages keep their
// order, and so do the chunks that share a buffer. That is the whole synchronisation.
void queue_chunks(const Pipeline& p, int streams, int stages) {
  for (int begin = 0, turn = 0; begin < p.n; begin += p.chunk, turn = (turn + 1) % streams) {
    const int count = std::min(p.chunk, p.n - begin);
    const size_t bytes = count * sizeof(float);
    float* buffer = p.buffer[turn];
    cudaStream_t stream = p.stream[turn];
    if (stages & kCopyIn) {
      CHECK(cudaMemcpyAsync(buffer, p.in + begin, bytes, cudaMemcpyHostToDevice, stream));
    }
    if (stages & kCompute) {
      newton_sqrt<<<ceil_div(count, kBlock), kBlock, 0, stream>>>(buffer, count);
      CHECK(cudaGetLastError());
    }
    if (stages & kCopyOut) {
      CHECK(cudaMemcpyAsync(p.out + begin, buffer, bytes, cudaMemcpyDeviceToHost, stream));
    }
  }
}

// Milliseconds by the device's own clock: an event is a time stamp queued like any other work.
float time_chunks(const Pipeline& p, int streams, int stages) {
  cudaEvent_t start, stop, joined;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));  // only for waiting: cheaper
  float fastest = std::numeric_limits<float>::infinity();
  for (int run = 0; run < kTimedRuns; ++run) {
    CHECK(cudaEventRecord(start, p.stream[0]));
    CHECK(cudaStreamWaitEvent(p.stream[1], start));  // fork: stream 1 starts after the stamp
    queue_chunks(p, streams, stages);
    CHECK(cudaEventRecord(joined, p.stream[1]));
    CHECK(cudaStreamWaitEvent(p.stream[0], joined));  // join: stream 0 waits for stream 1
    CHECK(cudaEventRecord(stop, p.stream[0]));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds = 0.0f;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    fastest = std::min(fastest, milliseconds);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaEventDestroy(joined));
  return fastest;
}

bool roots_are_right(const Pipeline& p, const char* how) {
  // The last step rounds twice, a quotient and a sum; the limit allows for twice that.
  const double tolerance = 4 * std::ldexp(1.0, -24);  // relative
  for (int i = 0; i < p.n; ++i) {
    const double want = std::sqrt(double(p.in[i]));
    if (!is_close(p.out[i], want, tolerance * want)) {
      fail("%s: the root of %.9g is %.9g, expected %.9g", how, p.in[i], p.out[i], want);
      return false;
    }
  }
  return true;
}

int main(int argc, char** argv) {
  const Args args(argc, argv, {{"n", 400009, 1, 1 << 28}, {"chunks", 8, 1, 1024}});
  Pipeline p = {};
  p.n = args.size(0);
  p.chunk = ceil_div(p.n, args.size(1));
  CHECK(cudaMallocHost(&p.in, p.n * sizeof(float)));
  CHECK(cudaMallocHost(&p.out, p.n * sizeof(float)));
  for (int i = 0; i < kStreams; ++i) {
    CHECK(cudaMalloc(&p.buffer[i], p.chunk * sizeof(float)));
    CHECK(cudaStreamCreateWithFlags(&p.stream[i], cudaStreamNonBlocking));
  }
  std::mt19937 random(1);
  for (int i = 0; i < p.n; ++i) p.in[i] = 1.0f + 99.0f * (float(random() >> 8) * 0x1p-24f);

  for (int streams = 1; streams <= kStreams; ++streams) {  // first right, then fast
    std::fill(p.out, p.out + p.n, std::numeric_limits<float>::quiet_NaN());
    queue_chunks(p, streams, kEverything);
    CHECK(cudaDeviceSynchronize());
    if (!roots_are_right(p, streams == 1 ? "one stream" : "two streams")) return 1;
  }
  printf("%d square roots in chunks of %d; all are right, with one stream and with two\n", p.n,
         p.chunk);

  // Each stage alone works on what the one before left in the buffers: real numbers, real times.
  const float in = time_chunks(p, 1, kCopyIn);
  const float compute = time_chunks(p, 1, kCompute);
  const float out = time_chunks(p, 1, kCopyOut);
  const float one = time_chunks(p, 1, kEverything);
  const float two = time_chunks(p, 2, kEverything);
  printf("  copy in, alone    %9.3f ms\n", in);
  printf("  compute, alone    %9.3f ms\n", compute);
  printf("  copy out, alone   %9.3f ms\n", out);
  printf("  one stream        %9.3f ms   about the sum of the three\n", one);
  printf("  two streams       %9.3f ms   %.2f times as fast; at best the longest of the three\n",
         two, one / two);

  for (int i = 0; i < kStreams; ++i) {
    CHECK(cudaFree(p.buffer[i]));
    CHECK(cudaStreamDestroy(p.stream[i]));
  }
  CHECK(cudaFreeHost(p.in));
  CHECK(cudaFreeHost(p.out));
  return 0;
}
