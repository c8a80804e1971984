// ridge/reduce.cuh with types and operators that no ladder has: elements of 1 to 16 bytes, carried
// structs of any size, indices, counts, two inputs, vectors that start anywhere, and bad arguments.
#include "ridge/reduce.cuh"

#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "../../vm/cudart/programs/check.h"
#include "ridge/reduce.h"  // both fit into one file

// Sums modulo 2^32 of elements times their index, the count, and the bits seen: 12 bytes.
struct Trace {
  uint32_t sum, count, bits;
  bool operator==(const Trace& t) const {
    return sum == t.sum && count == t.count && bits == t.bits;
  }
};
template <class T>
struct Tracing {
  __host__ __device__ Trace identity() const { return {0, 0, 0}; }
  __host__ __device__ Trace transform(T x, int64_t index) const {
    return {uint32_t(x) * uint32_t(index + 1), 1, uint32_t(x)};
  }
  __host__ __device__ Trace combine(Trace a, Trace b) const {
    return {a.sum + b.sum, a.count + b.count, a.bits | b.bits};
  }
  __host__ __device__ Trace finish(Trace a) const { return a; }
};

struct Pair {
  uint64_t a, b;
};
struct Crosswise {  // of two vectors of 16-byte elements; the result is smaller than what is
                    // carried
  __host__ __device__ ulonglong2 identity() const { return {0, 0}; }
  __host__ __device__ ulonglong2 transform(const Pair& x, const Pair& y) const {
    return {x.a * y.b, x.b * y.a};
  }
  __host__ __device__ ulonglong2 combine(ulonglong2 p, ulonglong2 q) const {
    return {p.x + q.x, p.y ^ q.y};
  }
  __host__ __device__ uint32_t finish(ulonglong2 p, int64_t n) const {
    return uint32_t(p.x ^ p.y) + uint32_t(n);
  }
};

template <class T>
T* on_device(const std::vector<T>& values,
             int lead) {  // `lead` elements behind a 256-byte boundary
  T* data;
  RIDGE_CUDA(cudaMalloc(&data, (values.size() + size_t(lead) + 1) * sizeof(T)), cudaSuccess);
  RIDGE_CUDA(
      cudaMemcpy(data + lead, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
      cudaSuccess);
  return data;
}

template <class Out, class Ask, class Call>
Out result_of(Ask ask, Call call) {
  Out* out;
  void* workspace;
  const ridge::Expected<size_t> bytes = ask();
  RIDGE_CHECK(bool(bytes));
  RIDGE_CUDA(cudaMalloc(&out, sizeof(Out)), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&workspace, *bytes + 1), cudaSuccess);
  RIDGE_CUDA(cudaMemset(workspace, 0xff, *bytes + 1), cudaSuccess);
  const ridge::Status status = call(out, workspace, *bytes);
  RIDGE_CHECK(bool(status));
  Out result;
  RIDGE_CUDA(cudaMemcpy(&result, out, sizeof(Out), cudaMemcpyDeviceToHost), cudaSuccess);
  RIDGE_CUDA(cudaFree(out), cudaSuccess);
  RIDGE_CUDA(cudaFree(workspace), cudaSuccess);
  return result;
}

template <class T>
void check_one(int64_t n, int lead) {
  std::vector<T> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = T(i * 2654435761u >> 7);
  const Tracing<T> op;
  Trace wanted = op.identity();
  for (int64_t i = 0; i < n; ++i) wanted = op.combine(wanted, op.transform(values[size_t(i)], i));
  T* const data = on_device(values, lead);
  const T* const x = data + lead;
  const Trace got = result_of<Trace>(
      [&] { return ridge::reduce_workspace(op, x, n); },
      [&](Trace* out, void* w, size_t bytes) { return ridge::reduce(op, x, n, out, w, bytes); });
  if (!(got == wanted)) {
    std::printf("%d bytes, n %lld, lead %d: wrong\n", int(sizeof(T)), (long long)n, lead);
    ++failures;
  }
  RIDGE_CUDA(cudaFree(data), cudaSuccess);
}

void check_two(int64_t n) {
  std::vector<Pair> xs(static_cast<size_t>(n)), ys(xs);
  const Crosswise op;
  ulonglong2 wanted = op.identity();
  for (size_t i = 0; i < xs.size(); ++i) {
    xs[i] = {i * 77, i + 5};
    ys[i] = {i ^ 123, 3 * i};
    wanted = op.combine(wanted, op.transform(xs[i], ys[i]));
  }
  Pair *const x = on_device(xs, 0), *const y = on_device(ys, 0);
  const uint32_t got = result_of<uint32_t>([&] { return ridge::reduce_workspace(op, x, y, n); },
                                           [&](uint32_t* out, void* w, size_t bytes) {
                                             return ridge::reduce(op, x, y, n, out, w, bytes);
                                           });
  RIDGE_CHECK(got == op.finish(wanted, n));
  RIDGE_CUDA(cudaFree(x), cudaSuccess);
  RIDGE_CUDA(cudaFree(y), cudaSuccess);
}

void expect(const ridge::Status& status, const std::string& message) {
  if (status.message() == message) return;
  std::printf("said \"%s\", not \"%s\"\n", status.message().c_str(), message.c_str());
  ++failures;
}

int main() {
  for (const int64_t n : {0, 1, 31, 4099, 150001})
    for (const int lead : {0, 1, 3}) {
      check_one<uint8_t>(n, lead);
      check_one<uint16_t>(n, lead);
      check_one<uint32_t>(n, lead);
      check_one<uint64_t>(n, lead);
    }
  for (const int64_t n : {0, 1, 777, 50003}) check_two(n);

  const Tracing<uint32_t> op;
  uint32_t* const x = on_device(std::vector<uint32_t>(200000), 0);
  Trace* out;
  RIDGE_CUDA(cudaMalloc(&out, sizeof(Trace)), cudaSuccess);
  expect(ridge::reduce(op, x, -1, out, nullptr, 0), "reduce: a vector of -1 elements");
  expect(ridge::reduce(op, static_cast<uint32_t*>(nullptr), 5, out, nullptr, 0),
         "reduce: x is null");
  expect(ridge::reduce(op, x, 5, static_cast<Trace*>(nullptr), nullptr, 0), "reduce: out is null");
  const auto* odd = reinterpret_cast<const uint32_t*>(reinterpret_cast<const char*>(x) + 1);
  expect(ridge::reduce(op, odd, 5, out, nullptr, 0),
         "reduce: x is not aligned to its elements, which are 4 bytes");
  const size_t bytes = *ridge::reduce_workspace(op, x, 200000);
  expect(ridge::reduce(op, x, 200000, out, out, bytes - 1),
         "reduce: the workspace has " + std::to_string(bytes - 1) + " bytes, but takes " +
             std::to_string(bytes));
  expect(ridge::reduce(op, x, 200000, out, nullptr, bytes), "reduce: the workspace is null");
  expect(ridge::reduce(op, x, 200000, out, x + 1, bytes),
         "reduce: the workspace is not aligned to 16 bytes");
  return failures != 0;
}
