// Two ways an example can go wrong: a CUDA call fails, or the numbers are wrong.
//
// Exit codes: 0 fine, 1 wrong result, 2 bad command line, 4 CUDA error.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

// Wraps every CUDA call. Kernels run behind the host's back, so an error often shows up at a later
// call than the one that caused it: check all of them, and `cudaGetLastError()` after a launch.
#define CHECK(call)                                                                \
  do {                                                                             \
    const cudaError_t check_error = (call);                                        \
    if (check_error != cudaSuccess) {                                              \
      std::fprintf(stderr, "%s:%d: CUDA error: %s\n  in %s\n", __FILE__, __LINE__, \
                   cudaGetErrorString(check_error), #call);                        \
      std::exit(4);                                                                \
    }                                                                              \
  } while (0)

// True only where the distance is known to be small. Asking `error <= tolerance`, and not
// `error > tolerance`, makes a NaN fail: every comparison with a NaN is false.
inline bool is_close(double got, double want, double tolerance) {
  return std::fabs(got - want) <= tolerance;
}

// Says what is wrong, printf style, and gives back the exit code for it: `return fail("...")`.
[[gnu::format(printf, 1, 2)]] inline int fail(const char* format, ...) {
  std::fprintf(stderr, "WRONG: ");
  va_list values;
  va_start(values, format);
  std::vfprintf(stderr, format, values);
  va_end(values);
  std::fprintf(stderr, "\n");
  return 1;
}

// a / b, rounded up: so many blocks of b threads cover a elements.
inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
