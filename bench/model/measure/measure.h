// What every section of the measurements uses: figures with their spread, launches timed by events,
// kernels that count their own cycles. `bench/model/measure.py` builds and runs the sections.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace measure {

using u32 = unsigned;
using u64 = unsigned long long;
using Samples = std::vector<double>;

#define CHECK(call)                                                                              \
  do {                                                                                           \
    if (const cudaError_t e = (call); e != cudaSuccess) {                                        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e)); \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

// The card at hand; sections ask it for sizes and for what it can do.
struct Card {
  cudaDeviceProp p;
  int sms;
  size_t l2;
  int arch;       // 900 for compute capability 9.0
  int clock_khz;  // the highest
  int memory_khz;
};
const Card& card();

// One figure, or a curve of figures over x. The median is the value; the spread is the distance
// of the quartiles divided by the median.
void add(const std::string& name, const Samples& samples, const char* unit, const std::string& how);
class Curve {
 public:
  Curve(std::string name, std::string x_name, const char* unit, std::string how)
      : name_(std::move(name)), x_name_(std::move(x_name)), unit_(unit), how_(std::move(how)) {}
  Curve(const Curve&) = delete;
  ~Curve();
  void at(double x, const Samples& samples);

 private:
  std::string name_, x_name_, unit_, how_;
  std::vector<double> x_, value_, spread_;
};
double median(Samples samples);
Samples scaled(Samples samples, double factor);  // each sample times factor
Samples rate(Samples samples, double amount);    // amount divided by each sample

// Device memory that lives until the section ends.
void* device_memory(size_t bytes);
// Fills with bits that repeat nowhere; floats are finite.
void fill(void* data, size_t bytes);

cudaStream_t stream();
// A memset of twice the L2, so that no input survives there.
void make_cold();

// µs between two events around `work`, `before` untimed in front of it; two runs come first as a
// warm-up.
template <class Before, class Work>
Samples time_us(int n, Before before, Work work) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (!begin) {
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  Samples samples;
  for (int i = -2; i < n; ++i) {
    before();
    CHECK(cudaEventRecord(begin, stream()));
    work();
    CHECK(cudaEventRecord(end, stream()));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaGetLastError());
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 0) samples.push_back(double(ms) * 1e3);
  }
  return samples;
}
template <class Work>
Samples time_us(int n, Work work) {
  return time_us(
      n, [] {}, work);
}

// µs per launch of a graph that holds `launches` calls of work(i): how the harness times short
// kernels.
template <class Work>
Samples graph_us(int n, int launches, Work work) {
  CHECK(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < launches; ++i) work(i);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream(), &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  Samples samples = time_us(n, [&] { CHECK(cudaGraphLaunch(exec, stream())); });
  CHECK(cudaGraphExecDestroy(exec));
  return scaled(samples, 1.0 / launches);
}

// Where kernels write the cycles that each block took.
long long* cycle_slots();
// Runs a kernel of `blocks` blocks that writes cycle_slots(): per launch, the median over the
// blocks divided by `per`.
Samples cycles_of(int n, int blocks, double per, void (*launch)(void*), void* context);
template <class Launch>
Samples cycles_of(int n, int blocks, double per, Launch launch) {
  return cycles_of(
      n, blocks, per, [](void* l) { (*static_cast<Launch*>(l))(); }, &launch);
}

// Rates without what every launch costs: `launch(rounds)` runs with n and 2 n rounds, and only the
// difference counts. Returns µs or cycles for n rounds.
template <class Launch>
Samples difference_us(int n, int rounds, Launch launch) {
  const double once = median(time_us(n, [&] { launch(rounds); }));
  Samples twice = time_us(n, [&] { launch(2 * rounds); });
  for (double& us : twice) us -= once;
  return twice;
}
template <class Launch>
Samples difference_cycles(int n, int blocks, int rounds, double per, Launch launch) {
  const double once = median(cycles_of(n, blocks, per, [&] { launch(rounds); }));
  Samples twice = cycles_of(n, blocks, per, [&] { launch(2 * rounds); });
  for (double& cycles : twice) cycles -= once;
  return twice;
}

// The sections, one file each.
void dram();
void locality();
void latency();
void caches();
void pipes();
void shared();
void atomics();
void tensor();
void async_copies();
void clusters();
void launches();
void scheduling();
void link();

}  // namespace measure

#ifdef __CUDACC__
namespace measure {
// A number that nobody can foresee, the same in each run.
__host__ __device__ inline u32 mix(u32 x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
// Whole blocks take the time between begin() and end(); all threads must call both.
__device__ inline long long begin_cycles() {
  __syncthreads();
  return clock64();
}
__device__ inline void end_cycles(long long start, long long* slots) {
  __syncthreads();
  if (threadIdx.x == 0) slots[blockIdx.x] = clock64() - start;
}
}  // namespace measure
#endif
