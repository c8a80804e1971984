#include "harness/inputs.h"

#include <cmath>
#include <limits>

#include "core/number.h"

namespace ridge::harness {
namespace {

// splitmix64: each index has its own number, so any part of a tensor can be made on its own.
uint64_t hashed(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + index + 0x632be59bd9b4e019u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
double unit(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }  // 0 … 1

double value(const TensorSpec& spec, uint64_t seed, int64_t index) {
  const uint64_t bits = hashed(seed, uint64_t(index));
  switch (spec.fill) {
    case Fill::uniform: return 2 * unit(bits) - 1;
    case Fill::positive: return unit(bits) + 0.1;
    case Fill::spread: return 16 * unit(bits) - 8;
    case Fill::small_ints: return double(int64_t(bits % 9)) - 4;
    case Fill::index: return spec.limit > 0 ? double(bits % uint64_t(spec.limit)) : 0;
    case Fill::bytes: return double(bits % 256);
    case Fill::zero: return 0;
  }
  return 0;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double special(Dtype dtype, uint64_t bits) {
  const double values[] = {NAN,  kInfinity, -kInfinity,           -0.0,
                           0.0,  1e30,      smallest(dtype),      -smallest(dtype) * 3,
                           -1e4, 1.0,       64 * smallest(dtype), 6e4};
  return values[bits % std::size(values)];
}

uint64_t tensor_seed(const Case& c, size_t tensor) { return c.seed * 1000003 + tensor; }

}  // namespace

std::vector<HostTensor> make_inputs(const Ladder& ladder, const Case& c, const Workload& workload) {
  std::vector<HostTensor> tensors;
  for (size_t t = 0; t < workload.tensors.size(); ++t) {
    HostTensor tensor = {.spec = workload.tensors[t], .values = {}, .magnitude = {}};
    const TensorSpec& spec = tensor.spec;
    tensor.values.resize(size_t(tensor.elements()));
    const uint64_t seed = tensor_seed(c, t);
    const bool specials = c.specials && is_floating(spec.dtype) && spec.fill != Fill::zero;
    if (spec.role != Role::out)
      for (size_t i = 0; i < tensor.values.size(); ++i) {
        const auto structured = ladder.input(c, t, int64_t(i));
        double x = structured ? *structured : value(spec, seed, int64_t(i));
        if (specials && !structured && hashed(seed + 1, i) % 7 == 0)
          x = special(spec.dtype, hashed(seed + 2, i));
        tensor.values[i] = rounded(spec.dtype, x);
      }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<char> input_bytes(const Ladder& ladder, const Case& c, const Workload& workload,
                              size_t tensor, int64_t elements) {
  const TensorSpec& spec = workload.tensors[tensor];
  std::vector<char> bytes(bytes_for(spec.dtype, elements));
  const uint64_t seed = tensor_seed(c, tensor);
  for (int64_t i = 0; i < elements; ++i) {
    const auto structured = ladder.input(c, tensor, i);
    store(spec.dtype, bytes.data(), i, structured ? *structured : value(spec, seed, i));
  }
  return bytes;
}

}  // namespace ridge::harness
