#include "harness/timing.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "harness/roof.h"
#include "harness/statistics.h"

namespace ridge::harness {
namespace {

constexpr int kLaunchesAGraph = 32;
constexpr int kBatch = 10;  // samples of each between two looks at the clock
constexpr int kWarmups = 3;
// A lesson may take a thousand times as long as the rung it leads to: this long, and few samples
// do.
constexpr double kSlow = 20e3;  // µs
constexpr size_t kSamplesOfSlow = 3;

Status status_of(cudaError_t error) {
  if (error == cudaSuccess) return Status::ok();
  return Error{int(error), std::string("timing: ") + cudaGetErrorString(error)};
}

class Stopwatch {
 public:
  Stopwatch() {
    (void)cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    for (cudaEvent_t* e : {&begin_, &end_}) (void)cudaEventCreate(e);
  }
  ~Stopwatch() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
    (void)cudaStreamDestroy(stream_);
  }
  cudaStream_t stream() const { return stream_; }

  // µs of what `work` enqueues; `before` is enqueued untimed in front of it.
  template <class Before, class Work>
  Expected<double> time(Before before, Work work) {
    before();
    (void)cudaEventRecord(begin_, stream_);
    if (const Status s = work(); !s) return s.error();
    (void)cudaEventRecord(end_, stream_);
    if (const Status s = status_of(cudaEventSynchronize(end_)); !s) return s.error();
    float ms = 0;
    if (const Status s = status_of(cudaEventElapsedTime(&ms, begin_, end_)); !s) return s.error();
    return double(ms) * 1e3;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// Device memory for as long as it is needed.
struct Scratch {
  explicit Scratch(size_t bytes) : size(bytes) {
    if (cudaMalloc(&data, bytes) != cudaSuccess) data = nullptr;
  }
  ~Scratch() { (void)cudaFree(data); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data = nullptr;
  size_t size;
};

// Many launches over all input sets as one graph, so that launching costs next to nothing.
Expected<cudaGraphExec_t> as_graph(const Timed& who, int sets, cudaStream_t stream) {
  if (const Status s = status_of(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      !s)
    return s.error();
  Status launched;
  for (int i = 0; i < kLaunchesAGraph && launched; ++i) launched = who.launch(i % sets, stream);
  cudaGraph_t graph = nullptr;
  const Status ended = status_of(cudaStreamEndCapture(stream, &graph));
  if (!launched || !ended) {
    (void)cudaGetLastError();  // not the next launch's
    if (graph) (void)cudaGraphDestroy(graph);
    return launched ? ended.error() : launched.error();
  }
  cudaGraphExec_t exec = nullptr;
  const Status made = status_of(cudaGraphInstantiate(&exec, graph, 0));
  (void)cudaGraphDestroy(graph);
  if (!made) return made.error();
  return exec;
}

bool quiet_enough(const Timing& timing, const TimingOptions& options) {
  const Summary s = summarize(timing.us);
  return s.spread() / std::sqrt(double(s.samples)) < options.noise;
}

}  // namespace

int sets_beyond_l2(double bytes, const DeviceInfo& device) {
  if (bytes <= 0) return 1;
  return int(
      std::clamp(std::ceil(2.0 * double(device.l2_bytes) / bytes), 1.0, double(kLaunchesAGraph)));
}

std::vector<Timing> time_in_turn(const std::vector<Timed>& contestants,
                                 const TimingOptions& options, const DeviceInfo& device) {
  Stopwatch watch;
  // Twice the L2, so that nothing of the inputs survives.
  const Scratch flush(options.cold ? size_t(2 * device.l2_bytes) : 16);
  std::vector<Timing> timings;
  std::vector<cudaGraphExec_t> graphs(contestants.size(), nullptr);
  const auto make_cold = [&] {
    if (options.cold) (void)cudaMemsetAsync(flush.data, 1, flush.size, watch.stream());
  };

  for (const Timed& who : contestants) {
    Timing timing = {.name = who.name, .us = {}, .by_graph = false, .status = {}};
    double us = 0;
    for (int i = 0; i < kWarmups && timing.status && us < kSlow; ++i) {
      const auto t =
          watch.time(make_cold, [&] { return who.launch(i % options.sets, watch.stream()); });
      if (t) us = *t;
      else timing.status = t.error();
    }
    timing.by_graph = timing.status && us < kShortestByEvents;
    timings.push_back(timing);
  }
  // If the fastest is too short for events, all go by graph: what is compared is measured alike.
  // What cannot be captured stays with events.
  const bool by_graph = std::any_of(timings.begin(), timings.end(),
                                    [](const Timing& t) { return t.status && t.by_graph; });
  for (size_t i = 0; i < timings.size(); ++i) {
    timings[i].by_graph = false;
    if (!by_graph || !timings[i].status) continue;
    const auto graph = as_graph(contestants[i], options.sets, watch.stream());
    if (!graph) continue;
    graphs[i] = *graph;
    timings[i].by_graph = true;
  }

  int turn = 0;
  const auto sample = [&](size_t i) {
    Timing& timing = timings[i];
    if (!timing.status) return;
    if (timing.us.size() >= kSamplesOfSlow && timing.us.front() > kSlow) return;
    const auto us = watch.time(make_cold, [&] {
      return graphs[i] ? status_of(cudaGraphLaunch(graphs[i], watch.stream()))
                       : contestants[i].launch(turn % options.sets, watch.stream());
    });
    if (us) timing.us.push_back(graphs[i] ? *us / kLaunchesAGraph : *us);
    else timing.status = us.error();
  };
  const auto start = std::chrono::steady_clock::now();
  const auto enough = [&] {
    const int samples = turn;
    if (samples < options.least) return false;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (samples >= options.most || spent.count() > options.seconds) return true;
    return std::all_of(timings.begin(), timings.end(),
                       [&](const Timing& t) { return !t.status || quiet_enough(t, options); });
  };
  do {
    for (int k = 0; k < kBatch; ++k, ++turn)
      // Every other round backwards, so that nobody always follows the same rival.
      for (size_t i = 0; i < contestants.size(); ++i)
        sample(turn % 2 ? contestants.size() - 1 - i : i);
  } while (!enough());

  for (cudaGraphExec_t graph : graphs)
    if (graph) (void)cudaGraphExecDestroy(graph);
  return timings;
}

namespace {

constexpr double kOneWay = 0.05;  // less of the other kind does not make it a copy

Timed copying(std::shared_ptr<Scratch> from, std::shared_ptr<Scratch> to) {
  return {"copy", [=](int, cudaStream_t s) {
            return status_of(
                cudaMemcpyAsync(to->data, from->data, from->size, cudaMemcpyDeviceToDevice, s));
          }};
}
Timed writing(std::shared_ptr<Scratch> to) {
  return {"write", [=](int, cudaStream_t s) {
            return status_of(cudaMemsetAsync(to->data, 2, to->size, s));
          }};
}
// The best grid for reading differs from GPU to GPU and from size to size.
std::vector<Timed> reading(std::shared_ptr<Scratch> from, const DeviceInfo& device) {
  const auto sink = std::make_shared<Scratch>(64);
  std::vector<Timed> grids;
  for (const int blocks_per_sm : {2, 4, 8, 64})
    grids.push_back({"read", [=, sm_count = device.sm_count](int, cudaStream_t s) {
                       launch_read(from->data, int64_t(from->size), sm_count * blocks_per_sm,
                                   static_cast<unsigned*>(sink->data), s);
                       return status_of(cudaGetLastError());
                     }});
  return grids;
}

}  // namespace

Expected<Roofs> measure_roofs(const DeviceInfo& device) {
  const size_t bytes = size_t(1) << 30;
  const auto from = std::make_shared<Scratch>(bytes), to = std::make_shared<Scratch>(bytes);
  if (!from->data || !to->data) return Error{2, "no memory to measure the roofs with"};
  (void)cudaMemset(from->data, 1, bytes);
  std::vector<Timed> contestants = reading(from, device);
  contestants.push_back(copying(from, to));
  contestants.push_back(writing(to));
  Roofs roofs;
  for (const Timing& t :
       time_in_turn(contestants, {.least = 10, .most = 30, .seconds = 0.5}, device)) {
    if (!t.status) return t.status.error();
    const double rate = double(bytes) / summarize(t.us).median * 1e6;
    if (t.name == "copy") roofs.copy = 2 * rate;
    else if (t.name == "write") roofs.write = rate;
    else roofs.read = std::max(roofs.read, rate);
  }
  return roofs;
}

std::vector<Timed> memory_alone(double read, double written, const DeviceInfo& device) {
  const double total = read + written;
  const auto scratch = [](double bytes) {
    auto memory = std::make_shared<Scratch>(size_t(bytes / 16) * 16);
    if (memory->data) (void)cudaMemset(memory->data, 1, memory->size);
    else (void)cudaGetLastError();
    return memory;
  };
  const bool reads = read >= kOneWay * total, writes = written >= kOneWay * total;
  const auto one = scratch(reads && writes ? total / 2 : total);
  if (!one->data) return {};
  if (!writes) return reading(one, device);
  if (!reads) return {writing(one)};
  const auto other = scratch(total / 2);
  if (!other->data) return {};
  return {copying(one, other)};
}

Weather weather() {
  Weather now;
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  if (!nvml) return now;
  const auto call = [&]<class... A>(const char* name, A... a) {
    const auto f = reinterpret_cast<int (*)(A...)>(dlsym(nvml, name));
    return f && f(a...) == 0;
  };
  void* device = nullptr;
  unsigned value = 0;
  if (call("nvmlInit_v2") && call("nvmlDeviceGetHandleByIndex_v2", 0u, &device)) {
    if (call("nvmlDeviceGetClockInfo", device, 1, &value)) now.sm_mhz = int(value);
    if (call("nvmlDeviceGetClockInfo", device, 2, &value)) now.memory_mhz = int(value);
    if (call("nvmlDeviceGetTemperature", device, 0, &value)) now.celsius = int(value);
    if (call("nvmlDeviceGetPowerUsage", device, &value)) now.watts = int(value / 1000);
  }
  dlclose(nvml);
  return now;
}

}  // namespace ridge::harness
