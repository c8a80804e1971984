// ridge/scan.cuh with types and operators that no ladder has: sizes that do and do not divide 16
// bytes, an operator that does not commute, in place, out of step, and what is refused.
#include "ridge/scan.cuh"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "../../vm/cudart/programs/check.h"

// Maps x -> a x + b modulo 2^8 … 2^64, composed: the first is applied first.
template <class U>
struct Affine {
  U a = 3, b = 5;  // initialised members: shared memory must not mind
};
template <class U>
struct Then {
  __host__ __device__ Affine<U> identity() const { return {U(1), U(0)}; }
  __host__ __device__ Affine<U> operator()(const Affine<U>& f, const Affine<U>& g) const {
    return {U(g.a * f.a), U(g.a * f.b + g.b)};
  }
};
// The same with ballast, to other sizes.
template <class U, int kBallast>
struct Heavy {
  Affine<U> map;
  U ballast[kBallast];
};
template <class U, int kBallast>
struct ThenHeavy {
  __host__ __device__ Heavy<U, kBallast> identity() const { return {Then<U>().identity(), {}}; }
  __host__ __device__ Heavy<U, kBallast> operator()(const Heavy<U, kBallast>& f,
                                                    const Heavy<U, kBallast>& g) const {
    Heavy<U, kBallast> both = {Then<U>()(f.map, g.map), {}};
    for (int i = 0; i < kBallast; ++i) both.ballast[i] = f.ballast[i] ^ g.ballast[i];
    return both;
  }
};
struct LastNonZero {  // of bytes
  __host__ __device__ uint8_t identity() const { return 0; }
  __host__ __device__ uint8_t operator()(uint8_t a, uint8_t b) const { return b ? b : a; }
};

enum Where { kApart, kOutOfStep, kInPlace };

template <class T, class Op>
void check(int64_t n, bool inclusive, Where where, const Op& op) {
  std::mt19937 random(unsigned(n) + 1);
  std::vector<T> in(static_cast<size_t>(n)), result(in.size());
  for (T& x : in) {
    unsigned char bytes[sizeof(T)];
    for (unsigned char& byte : bytes) byte = random() % 4 ? uint8_t(random()) : 0;
    memcpy(static_cast<void*>(&x), bytes, sizeof(T));
  }
  T *device_in, *device_out;
  void* workspace;
  const size_t bytes = ridge::scan_workspace<T>(n);
  RIDGE_CUDA(cudaMalloc(&device_in, (in.size() + 1) * sizeof(T)), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&device_out, (in.size() + 1) * sizeof(T)), cudaSuccess);
  RIDGE_CUDA(cudaMalloc(&workspace, bytes), cudaSuccess);
  RIDGE_CUDA(cudaMemset(workspace, 0xff, bytes), cudaSuccess);
  T* const from = where == kOutOfStep ? device_in + 1 : device_in;
  T* const to = where == kInPlace ? device_in : device_out;
  RIDGE_CUDA(cudaMemcpy(from, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice),
             cudaSuccess);
  const ridge::Status status = inclusive ? ridge::inclusive_scan(from, to, n, op, workspace, bytes)
                                         : ridge::exclusive_scan(from, to, n, op, workspace, bytes);
  RIDGE_CHECK(bool(status));
  RIDGE_CUDA(cudaMemcpy(result.data(), to, in.size() * sizeof(T), cudaMemcpyDeviceToHost),
             cudaSuccess);
  T expected = op.identity();
  for (int64_t i = 0; i < n; ++i) {
    const T through = op(expected, in[size_t(i)]);
    const T& wanted = inclusive ? through : expected;
    if (memcmp(&result[size_t(i)], &wanted, sizeof(T)) != 0) {
      std::printf("%d bytes, n %lld, inclusive %d, where %d: wrong at %lld\n", int(sizeof(T)),
                  (long long)n, inclusive, where, (long long)i);
      ++failures;
      break;
    }
    expected = through;
  }
  for (void* p : {static_cast<void*>(device_in), static_cast<void*>(device_out), workspace})
    RIDGE_CUDA(cudaFree(p), cudaSuccess);
}

template <class T, class Op>
void check_all(const Op& op = Op()) {
  for (const int64_t n : {0, 1, 1031, 20011})
    for (const bool inclusive : {true, false})
      for (const Where where : {kApart, kOutOfStep, kInPlace}) check<T>(n, inclusive, where, op);
}

struct Sum {
  __host__ __device__ uint32_t identity() const { return 0; }
  __host__ __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
void check_refusals() {
  uint32_t x[16] = {};  // on the host: nothing is launched
  alignas(16) char workspace[4096];
  const size_t bytes = ridge::scan_workspace<uint32_t>(8);
  auto* const odd = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(x) + 2);
  const auto refuse = [&](const uint32_t* in, uint32_t* out, int64_t n, void* memory, size_t size,
                          const char* because) {
    for (const bool inclusive : {true, false}) {
      const ridge::Status s = inclusive ? ridge::inclusive_scan(in, out, n, Sum(), memory, size)
                                        : ridge::exclusive_scan(in, out, n, Sum(), memory, size);
      RIDGE_CHECK(!s && s.code() == int(cudaErrorInvalidValue));
      if (s.message().find(because) == std::string::npos) {
        std::printf("'%s' has no '%s'\n", s.message().c_str(), because);
        ++failures;
      }
    }
  };
  refuse(x, x, -8, workspace, bytes, "scan: a vector of -8 elements");
  refuse(nullptr, x, 8, workspace, bytes, "scan: in is null");
  refuse(x, nullptr, 8, workspace, bytes, "scan: out is null");
  refuse(odd, x, 4, workspace, bytes, "scan: in is not aligned to 4 bytes");
  refuse(x, odd, 4, workspace, bytes, "scan: out is not aligned to 4 bytes");
  refuse(x, x + 3, 8, workspace, bytes, "scan: out and in overlap in memory");
  refuse(x, x, 8, workspace, bytes - 1, "scan: the workspace has ");
  refuse(x, x, 8, nullptr, bytes, "scan: the workspace is null");
  refuse(x, x, 8, workspace + 4, bytes, "scan: the workspace is not aligned to 8 bytes");
  RIDGE_CHECK(bool(ridge::inclusive_scan<uint32_t>(nullptr, nullptr, 0, Sum(), nullptr, 0)));
}

int main() {
  check_all<uint8_t, LastNonZero>();
  check_all<Affine<uint8_t>, Then<uint8_t>>();              // 2 bytes
  check_all<Affine<uint32_t>, Then<uint32_t>>();            // 8
  check_all<Affine<uint64_t>, Then<uint64_t>>();            // 16
  check_all<Heavy<uint8_t, 1>, ThenHeavy<uint8_t, 1>>();    // 3
  check_all<Heavy<uint32_t, 1>, ThenHeavy<uint32_t, 1>>();  // 12
  check_all<Heavy<uint64_t, 2>, ThenHeavy<uint64_t, 2>>();  // 32

  check_refusals();
  return failures != 0;
}
