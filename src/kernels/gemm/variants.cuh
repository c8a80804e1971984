// Rungs that come in several variants, such as sizes of tiles: which one a call takes.
#pragma once

#include <cmath>
#include <span>
#include <tuple>

#include "kernels/gemm/gemm.h"
#include "select/select.h"
#include "select/tuning.h"

namespace ridge::gemm {

// The least that a product reads and writes.
constexpr double bytes(const Args& a) {
  const double in = double(size_of(a.dtype)), out = double(size_of(a.result));
  return double(a.batch) * ((double(a.m) + double(a.n)) * double(a.k) * in +
                            double(a.m) * double(a.n) * out * (a.beta != 0 ? 2 : 1));
}

// Calls f with an object of the type that has this index among Variants, a std::tuple.
template <class Variants, size_t kIndex = 0, class F>
auto of_variant(int variant, F f) {
  if constexpr (kIndex + 1 < std::tuple_size_v<Variants>)
    if (size_t(variant) != kIndex) return of_variant<Variants, kIndex + 1>(variant, f);
  return f(std::tuple_element_t<kIndex, Variants>());
}

using VariantCost = double (*)(const Args&, const DeviceInfo&, int);

inline int cheapest_variant(const Args& args, const DeviceInfo& device, size_t count,
                            VariantCost cost) {
  int best = 0;
  double least = kNever;
  for (int i = 0; i < int(count); ++i) {
    const double predicted = cost(args, device, i);
    if (predicted >= least) continue;
    best = i;
    least = predicted;
  }
  return best;
}
// The one that the call asks for, or else the one with the least cost.
inline int chosen_variant(const Args& args, const DeviceInfo& device,
                          std::span<const char* const> names, VariantCost cost) {
  return args.variant >= 0 ? args.variant : cheapest_variant(args, device, names.size(), cost);
}
inline double least_cost(const Args& args, const DeviceInfo& device,
                         std::span<const char* const> names, VariantCost cost) {
  return cost(args, device, cheapest_variant(args, device, names.size(), cost));
}

}  // namespace ridge::gemm
