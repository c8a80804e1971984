// histogram: how often each value occurs. histogram_even: how many values lie in each of `bins`
// intervals of equal width.
#pragma once

#include "ladder/rung.h"
#include "ridge/dtype.h"

namespace ridge::histogram {

enum { kValues, kEven };  // the operators, in their order

struct Args {
  const void* x = nullptr;     // (n)
  uint32_t* counts = nullptr;  // (bins)
  int64_t n = 0;
  int bins = 0;
  float lower = 0, upper = 0;  // of f32
  Dtype dtype = Dtype::u8;
  void* workspace = nullptr;  // unused
  size_t workspace_bytes = 0;
};
using Rung = RungOf<Args>;

constexpr double bytes(const Args& a) { return double(a.n) * double(size_of(a.dtype)); }

// The interval of an f32 number. Two operations, each rounded once, so that host and device agree.
// Numbers outside of [lower, upper), and NaN, have none: the result is `bins` then.
struct EvenBins {
  float lower, upper, per_unit;  // per_unit: bins / (upper - lower)
  int bins;
  EvenBins() = default;
  EvenBins(float low, float high, int count)
      : lower(low), upper(high), per_unit(float(count) / (high - low)), bins(count) {}
#ifdef __CUDACC__
  __host__ __device__
#endif
      int
      operator()(float x) const {
    if (!(x >= lower && x < upper)) return bins;
    const int bin = int((x - lower) * per_unit);
    return bin < bins ? bin : bins - 1;  // rounding may reach the upper end
  }
};

}  // namespace ridge::histogram
