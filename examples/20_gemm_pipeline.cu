// 20_gemm_pipeline: products of matrices in host memory, with the copies hidden behind the
// products.
//
// Each product needs three stages: copy its operands in, multiply, copy the result out. They use
// three different parts of a GPU. With one stream, two parts always wait for the third. With three
// streams, one product is copied in while another is multiplied and a third is copied out. Events
// after each stage show when it ended, and the program draws what each stream did.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "common/args.h"
#include "common/check.h"

constexpr int kSide = 16;             // threads of a block in each direction
constexpr int kEach = 4;              // results of a thread in each direction
constexpr int kTile = kSide * kEach;  // results of a block in each direction
constexpr int kThreads = kSide * kSide;
constexpr int kDepth = 16;      // columns of a and rows of b in shared memory at once
constexpr int kMaxStreams = 3;  // one for each stage
constexpr int kColumns = 64;    // characters for the time of one stream

// d = a b. A block makes kTile x kTile results and each thread 4 x 4 of them: 8 reads of shared
// memory serve 16 multiplications. The results of a thread lie kSide apart, so that neighbouring
// threads read and write neighbouring elements.
__global__ void __launch_bounds__(kThreads)
    multiply(const float* a, const float* b, float* d, int M, int N, int K) {
  __shared__ float a_tile[kTile][kDepth];
  __shared__ float b_tile[kDepth][kTile];
  const int thread = threadIdx.x;
  const int tx = thread % kSide, ty = thread / kSide;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  float sums[kEach][kEach] = {};
  for (int first_k = 0; first_k < K; first_k += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += kThreads) {
      const int row = first_row + i / kDepth, k = first_k + i % kDepth;
      a_tile[i / kDepth][i % kDepth] = row < M && k < K ? a[size_t(row) * K + k] : 0.0f;
    }
    for (int i = thread; i < kDepth * kTile; i += kThreads) {
      const int k = first_k + i / kTile, col = first_col + i % kTile;
      b_tile[i / kTile][i % kTile] = k < K && col < N ? b[size_t(k) * N + col] : 0.0f;
    }
    __syncthreads();  // both tiles are complete
    for (int k = 0; k < kDepth; ++k) {
      float from_a[kEach], from_b[kEach];
      for (int i = 0; i < kEach; ++i) from_a[i] = a_tile[ty + i * kSide][k];
      for (int j = 0; j < kEach; ++j) from_b[j] = b_tile[k][tx + j * kSide];
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sums[i][j] += from_a[i] * from_b[j];
    }
    __syncthreads();  // everybody is done reading, before the next round overwrites them
  }
  for (int i = 0; i < kEach; ++i) {
    for (int j = 0; j < kEach; ++j) {
      const int row = first_row + ty + i * kSide, col = first_col + tx + j * kSide;
      if (row < M && col < N) d[size_t(row) * N + col] = sums[i][j];
    }
  }
}

struct Products {
  int batch, M, N, K;
  float* a;  // (batch, M, K), pinned: only such memory is copied while the host goes on
  float* b;  // (batch, K, N), pinned
  float* d;  // (batch, M, N), pinned
  size_t a_size() const { return size_t(M) * K; }  // elements of one product
  size_t b_size() const { return size_t(K) * N; }
  size_t d_size() const { return size_t(M) * N; }
};

// A stream is a queue: its next product finds the buffers free, because the copy out of the
// product before is over by then. That is the whole synchronisation.
struct Lane {
  cudaStream_t stream;
  float *a, *b, *d;  // of one product, on the device
};

// When the stages of one product ended; as events, and in microseconds since the start.
enum Stage { kCopyIn, kMultiply, kCopyOut, kStages };
struct Events {
  cudaEvent_t end[kStages];
};
struct Times {
  float end[kStages];
};

void queue_product(const Products& p, int i, const Lane& lane, const Events& events) {
  const auto copy = [&](float* to, const float* from, size_t count, cudaMemcpyKind kind) {
    CHECK(cudaMemcpyAsync(to, from, count * sizeof(float), kind, lane.stream));
  };
  copy(lane.a, p.a + i * p.a_size(), p.a_size(), cudaMemcpyHostToDevice);
  copy(lane.b, p.b + i * p.b_size(), p.b_size(), cudaMemcpyHostToDevice);
  CHECK(cudaEventRecord(events.end[kCopyIn], lane.stream));
  const dim3 grid(ceil_div(p.N, kTile), ceil_div(p.M, kTile));
  multiply<<<grid, kThreads, 0, lane.stream>>>(lane.a, lane.b, lane.d, p.M, p.N, p.K);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(events.end[kMultiply], lane.stream));
  copy(p.d + i * p.d_size(), lane.d, p.d_size(), cudaMemcpyDeviceToHost);
  CHECK(cudaEventRecord(events.end[kCopyOut], lane.stream));
}

// All products, dealt to the first `streams` streams in turn.
std::vector<Times> run(const Products& p, const Lane* lanes, int streams) {
  cudaEvent_t start;
  CHECK(cudaEventCreate(&start));
  std::vector<Events> events(p.batch);
  for (Events& product : events)
    for (cudaEvent_t& end : product.end) CHECK(cudaEventCreate(&end));

  CHECK(cudaEventRecord(start, lanes[0].stream));
  for (int s = 1; s < streams; ++s) CHECK(cudaStreamWaitEvent(lanes[s].stream, start));
  for (int i = 0; i < p.batch; ++i) queue_product(p, i, lanes[i % streams], events[i]);
  CHECK(cudaDeviceSynchronize());

  std::vector<Times> times(p.batch);
  for (int i = 0; i < p.batch; ++i) {
    for (int stage = 0; stage < kStages; ++stage) {
      float milliseconds = 0.0f;
      CHECK(cudaEventElapsedTime(&milliseconds, start, events[i].end[stage]));
      times[i].end[stage] = milliseconds * 1000;
      CHECK(cudaEventDestroy(events[i].end[stage]));
    }
  }
  CHECK(cudaEventDestroy(start));
  return times;
}

float last_end(const std::vector<Times>& times) {
  float last = 0.0f;
  for (const Times& product : times) last = std::max(last, product.end[kCopyOut]);
  return last;
}

// One row per stream: > is a copy in, # a product, < a copy out. A copy begins when the stream
// and the copies of its direction before it are done. A product begins when its operands are there.
void draw(const std::vector<Times>& times, int streams, float per_column) {
  std::vector<std::string> rows(streams, std::string(kColumns, '.'));
  const auto bar = [&](int row, float begin, float end, char letter) {
    const int first = std::clamp(int(begin / per_column), 0, kColumns);
    const int behind = std::clamp(int(end / per_column), first, kColumns);
    rows[row].replace(first, behind - first, behind - first, letter);
  };
  for (int i = 0; i < int(times.size()); ++i) {
    const float* const now = times[i].end;
    const float free = i < streams ? 0.0f : times[i - streams].end[kCopyOut];
    const float in_free = i == 0 ? 0.0f : times[i - 1].end[kCopyIn];
    const float out_free = i == 0 ? 0.0f : times[i - 1].end[kCopyOut];
    bar(i % streams, std::max(free, in_free), now[kCopyIn], '>');
    bar(i % streams, now[kCopyIn], now[kMultiply], '#');
    bar(i % streams, std::max(now[kMultiply], out_free), now[kCopyOut], '<');
  }
  for (int s = 0; s < streams; ++s) printf("    stream %d  %s\n", s, rows[s].c_str());
}

bool products_are_right(const Products& p, int streams) {
  // Adding K products one after the other errs by at most K roundings of the sum of magnitudes.
  const double rounding = std::ldexp(1.0, -24);
  std::vector<double> want(p.N), magnitude(p.N);  // one row of a result
  for (int i = 0; i < p.batch; ++i) {
    const float* const b = p.b + i * p.b_size();
    for (int row = 0; row < p.M; ++row) {
      const float* const a = p.a + i * p.a_size() + size_t(row) * p.K;  // (K)
      const float* const d = p.d + i * p.d_size() + size_t(row) * p.N;  // (N)
      want.assign(p.N, 0.0);
      magnitude.assign(p.N, 0.0);
      for (int k = 0; k < p.K; ++k) {
        for (int col = 0; col < p.N; ++col) {
          const double product = double(a[k]) * b[size_t(k) * p.N + col];
          want[col] += product;
          magnitude[col] += std::fabs(product);
        }
      }
      for (int col = 0; col < p.N; ++col) {
        if (!is_close(d[col], want[col], p.K * rounding * magnitude[col])) {
          fail("with %d streams, product %d: d(%d, %d) is %.9g, expected %.9g", streams, i, row,
               col, d[col], want[col]);
          return false;
        }
      }
    }
  }
  return true;
}

int main(int argc, char** argv) {
  // The defaults are odd on purpose: every edge of every matrix cuts through a tile.
  const Args args(
      argc, argv,
      {{"batch", 6, 1, 1024}, {"M", 157, 1, 16384}, {"N", 131, 1, 16384}, {"K", 143, 1, 16384}});
  Products p = {args.size(0), args.size(1), args.size(2), args.size(3), nullptr, nullptr, nullptr};
  CHECK(cudaMallocHost(&p.a, p.batch * p.a_size() * sizeof(float)));
  CHECK(cudaMallocHost(&p.b, p.batch * p.b_size() * sizeof(float)));
  CHECK(cudaMallocHost(&p.d, p.batch * p.d_size() * sizeof(float)));
  Lane lanes[kMaxStreams];
  for (Lane& lane : lanes) {
    CHECK(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&lane.a, p.a_size() * sizeof(float)));
    CHECK(cudaMalloc(&lane.b, p.b_size() * sizeof(float)));
    CHECK(cudaMalloc(&lane.d, p.d_size() * sizeof(float)));
  }
  std::mt19937 random(1);
  const auto fill = [&](float* values, size_t count) {
    for (size_t i = 0; i < count; ++i) values[i] = float(random() >> 8) * 0x1p-23f - 1.0f;
  };
  fill(p.a, p.batch * p.a_size());
  fill(p.b, p.batch * p.b_size());

  printf("%d products (%d x %d) times (%d x %d): %.2f MB in, %.2f MB out, %.3f GFLOP each\n",
         p.batch, p.M, p.K, p.K, p.N, (p.a_size() + p.b_size()) * sizeof(float) * 1e-6,
         p.d_size() * sizeof(float) * 1e-6, 2e-9 * p.d_size() * p.K);
  float one_stream = 0.0f;
  for (int streams = 1; streams <= kMaxStreams; ++streams) {
    std::fill(p.d, p.d + p.batch * p.d_size(), std::numeric_limits<float>::quiet_NaN());
    run(p, lanes, streams);  // first right, then fast
    if (!products_are_right(p, streams)) return 1;
    const std::vector<Times> times = run(p, lanes, streams);
    const float all = last_end(times);
    if (streams == 1) {  // the stages take turns, so each time is that of one stage alone
      one_stream = all;
      const float* const end = times.back().end;
      const float begin = p.batch == 1 ? 0.0f : times[p.batch - 2].end[kCopyOut];
      printf("  each stage of one product: %.1f us copy in, %.1f us multiply, %.1f us copy out\n",
             end[kCopyIn] - begin, end[kMultiply] - end[kCopyIn], end[kCopyOut] - end[kMultiply]);
      printf("  below, a column is %.2f us: > copy in, # multiply, < copy out\n",
             one_stream / kColumns);
    }
    printf("  %d stream%s %10.1f us, %.2f times as fast as one stream; all are right\n", streams,
           streams == 1 ? " " : "s", all, one_stream / all);
    draw(times, streams, one_stream / kColumns);
  }

  for (Lane& lane : lanes) {
    CHECK(cudaStreamDestroy(lane.stream));
    CHECK(cudaFree(lane.a));
    CHECK(cudaFree(lane.b));
    CHECK(cudaFree(lane.d));
  }
  CHECK(cudaFreeHost(p.a));
  CHECK(cudaFreeHost(p.b));
  CHECK(cudaFreeHost(p.d));
  return 0;
}
