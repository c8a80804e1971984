// Measures the constants of one GPU for the model of time, and prints them as one JSON object.
//
//   measure SECTION…     the sections are listed when none is named
#include "measure.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace measure {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string number(double value, int digits = 5) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::isfinite(value) ? text : "null";
}

std::string list(const std::vector<double>& values, int digits = 5) {
  std::string out = "[";
  for (const double v : values) out += (out.size() > 1 ? ", " : "") + number(v, digits);
  return out + "]";
}

bool first_figure = true;
void print(const std::string& name, const std::string& body) {
  std::printf("%s\n  %s: {%s}", first_figure ? "" : ",", quoted(name).c_str(), body.c_str());
  std::fflush(stdout);
  first_figure = false;
}

double quartile(Samples s, double at) {
  std::sort(s.begin(), s.end());
  const double where = at * double(s.size() - 1);
  const size_t i = size_t(where), j = std::min(i + 1, s.size() - 1);
  return s[i] + (s[j] - s[i]) * (where - double(i));
}
double spread(const Samples& s) {
  const double middle = quartile(s, 0.5);
  return middle == 0 ? 0 : (quartile(s, 0.75) - quartile(s, 0.25)) / std::abs(middle);
}

__global__ void fill_kernel(uint4* data, size_t count) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    const u32 x = mix(u32(i)), keep = 0xbfffbfffu;  // no exponent of all ones
    data[i] = make_uint4(x & keep, mix(x) & keep, (x * 3) & keep, (x * 7) & keep);
  }
}

}  // namespace

const Card& card() {
  static const Card one = [] {
    Card c{};
    CHECK(cudaGetDeviceProperties(&c.p, 0));
    c.sms = c.p.multiProcessorCount;
    c.l2 = size_t(c.p.l2CacheSize);
    c.arch = c.p.major * 100 + c.p.minor * 10;
    CHECK(cudaDeviceGetAttribute(&c.clock_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaDeviceGetAttribute(&c.memory_khz, cudaDevAttrMemoryClockRate, 0));
    return c;
  }();
  return one;
}

double median(Samples samples) { return quartile(std::move(samples), 0.5); }
Samples scaled(Samples samples, double factor) {
  for (double& s : samples) s *= factor;
  return samples;
}
Samples rate(Samples samples, double amount) {
  for (double& s : samples) s = amount / s;
  return samples;
}

void add(const std::string& name, const Samples& samples, const char* unit,
         const std::string& how) {
  print(name, "\"value\": " + number(median(samples)) + ", \"unit\": " + quoted(unit) +
                  ", \"spread\": " + number(spread(samples)) +
                  ", \"samples\": " + number(double(samples.size())) + ", \"how\": " + quoted(how));
}

void Curve::at(double x, const Samples& samples) {
  x_.push_back(x);
  value_.push_back(median(samples));
  spread_.push_back(spread(samples));
}
Curve::~Curve() {
  print(name_, "\"unit\": " + quoted(unit_) + ", \"how\": " + quoted(how_) +
                   ", \"over\": " + quoted(x_name_) + ",\n    \"at\": " + list(x_, 12) +
                   ",\n    \"value\": " + list(value_) + ",\n    \"spread\": " + list(spread_));
}

cudaStream_t stream() {
  static const cudaStream_t one = [] {
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
  }();
  return one;
}

void* device_memory(size_t bytes) {
  void* data = nullptr;
  CHECK(cudaMalloc(&data, bytes));
  return data;
}
void fill(void* data, size_t bytes) {
  fill_kernel<<<card().sms * 4, 512, 0, stream()>>>(static_cast<uint4*>(data), bytes / 16);
  CHECK(cudaStreamSynchronize(stream()));
}
void make_cold() {
  static void* const flush = device_memory(2 * card().l2);
  CHECK(cudaMemsetAsync(flush, 1, 2 * card().l2, stream()));
}

constexpr int kSlots = 1 << 16;
long long* cycle_slots() {
  static long long* const slots =
      static_cast<long long*>(device_memory(kSlots * sizeof(long long)));
  return slots;
}
Samples cycles_of(int n, int blocks, double per, void (*launch)(void*), void* context) {
  Samples samples;
  std::vector<long long> cycles(static_cast<size_t>(blocks));
  for (int i = -1; i < n; ++i) {
    launch(context);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(cycles.data(), cycle_slots(), cycles.size() * sizeof(long long),
                          cudaMemcpyDeviceToHost, stream()));
    CHECK(cudaStreamSynchronize(stream()));
    if (i >= 0) samples.push_back(median(Samples(cycles.begin(), cycles.end())) / per);
  }
  return samples;
}

}  // namespace measure

int main(int argc, char** argv) {
  using namespace measure;
  const struct {
    const char* name;
    void (*run)();
  } sections[] = {{"dram", dram},         {"locality", locality}, {"latency", latency},
                  {"caches", caches},     {"pipes", pipes},       {"shared", shared},
                  {"atomics", atomics},   {"tensor", tensor},     {"async", async_copies},
                  {"clusters", clusters}, {"launches", launches}, {"scheduling", scheduling},
                  {"link", link}};
  if (argc < 2) {
    for (const auto& section : sections) std::puts(section.name);
    return 0;
  }
  CHECK(cudaSetDevice(0));
  std::printf("{");
  for (int i = 1; i < argc; ++i) {
    bool found = false;
    for (const auto& section : sections)
      if (!std::strcmp(section.name, argv[i])) section.run(), found = true;
    if (!found) {
      std::fprintf(stderr,
                   "measure: there is no section %s; run it without arguments for the list\n",
                   argv[i]);
      return 2;
    }
  }
  std::printf("\n}\n");
  return 0;
}
