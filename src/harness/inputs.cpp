#include "harness/inputs.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/mix.h"
#include "core/number.h"
#include "core/parallel.h"
#include "harness/convert.h"

namespace ridge::harness {
namespace {

constexpr int64_t kPart = 1 << 16;  // elements that a thread makes at once; of whole bytes

// Each index has its own number, so any part of a tensor can be made on its own.
uint64_t hashed(uint64_t seed, uint64_t index) {
  return mixed(seed * kMixStep + index + 0x632be59bd9b4e019u);
}
// 0 … 1; from a signed number, which is converted sooner.
double unit(uint64_t bits) { return double(int64_t(bits >> 11)) * 0x1p-53; }

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double special(Dtype dtype, uint64_t bits) {
  const double values[] = {NAN,  kInfinity, -kInfinity,           -0.0,
                           0.0,  1e30,      smallest(dtype),      -smallest(dtype) * 3,
                           -1e4, 1.0,       64 * smallest(dtype), 6e4};
  return values[bits % std::size(values)];
}

std::vector<double> choices_of(const TensorSpec& spec) {
  std::vector<double> choices;
  switch (spec.fill) {
    case Fill::small_ints: choices = {-4, -3, -2, -1, 0, 1, 2, 3, 4}; break;
    case Fill::counted: choices = {-4, -3, -2, -1, 1, 2, 3, 4}; break;
    case Fill::signs: choices = {-1, 0, 1}; break;
    case Fill::bytes:
      for (int i = 0; i < 256; ++i) choices.push_back(i);
      break;
    default: break;
  }
  for (double& x : choices) x = rounded(spec.dtype, x);
  return choices;
}

template <class Value>
void each(uint64_t seed, int64_t first, int64_t step, std::span<double> to, Value value) {
  for (double& x : to) {
    x = value(hashed(seed, uint64_t(first)));
    first += step;
  }
}

}  // namespace

MadeInputs::MadeInputs(const Ladder& ladder, const Case& c, const Workload& workload,
                       Specials specials)
    : ladder_(ladder), case_(c) {
  const bool wanted = c.specials && specials == Specials::as_the_case_says;
  for (size_t t = 0; t < workload.tensors.size(); ++t) {
    const TensorSpec& spec = workload.tensors[t];
    const bool structured = count(spec.shape) > 0 && ladder.input(c, t, 0).has_value();
    made_.push_back({.spec = spec,
                     .seed = c.seed * 1000003 + t,
                     .structured = structured,
                     .specials = wanted && is_floating(spec.dtype) && spec.fill != Fill::zero,
                     .choices = choices_of(spec)});
  }
}

void MadeInputs::fill(const Made& made, int64_t first, int64_t step, std::span<double> to) const {
  const auto with = [&](auto value) { each(made.seed, first, step, to, value); };
  const double* const choices = made.choices.data();
  switch (made.spec.fill) {
    case Fill::uniform: with([](uint64_t bits) { return 2 * unit(bits) - 1; }); break;
    case Fill::positive: with([](uint64_t bits) { return unit(bits) + 0.1; }); break;
    case Fill::spread: with([](uint64_t bits) { return 16 * unit(bits) - 8; }); break;
    case Fill::small_ints: return with([=](uint64_t bits) { return choices[bits % 9]; });
    case Fill::counted: return with([=](uint64_t bits) { return choices[bits % 8]; });
    case Fill::signs:
      if (made.spec.limit <= 1) return with([=](uint64_t bits) { return choices[bits & 2]; });
      return with([=, most = ~uint64_t(0) / uint64_t(made.spec.limit)](uint64_t bits) {
        return bits <= most ? choices[bits & 2] : choices[1];
      });
    case Fill::index:
      with([limit = uint64_t(made.spec.limit)](uint64_t bits) {
        return limit > 0 ? double(bits % limit) : 0;
      });
      break;
    case Fill::bytes: return with([=](uint64_t bits) { return choices[bits % 256]; });
    case Fill::zero: std::fill(to.begin(), to.end(), 0); break;
  }
  round_all(made.spec.dtype, to);
}

void MadeInputs::structure(size_t tensor, int64_t first, int64_t step, std::span<double> to) const {
  const Dtype dtype = made_[tensor].spec.dtype;
  for (double& x : to) {
    if (const auto given = ladder_.input(case_, tensor, first)) x = rounded(dtype, *given);
    first += step;
  }
}

void MadeInputs::read(size_t tensor, int64_t first, int64_t step, std::span<double> to) const {
  const Made& made = made_[tensor];
  fill(made, first, step, to);
  if (made.specials)
    for (size_t i = 0; i < to.size(); ++i) {
      const auto index = uint64_t(first + int64_t(i) * step);
      if (hashed(made.seed + 1, index) % 7 == 0)
        to[i] = rounded(made.spec.dtype, special(made.spec.dtype, hashed(made.seed + 2, index)));
    }
  if (made.structured) structure(tensor, first, step, to);
}

std::vector<HostTensor> make_inputs(const Ladder& ladder, const Case& c, const Workload& workload) {
  const MadeInputs made(ladder, c, workload);
  std::vector<HostTensor> tensors;
  for (size_t t = 0; t < workload.tensors.size(); ++t) {
    HostTensor tensor = {.spec = workload.tensors[t], .values = {}, .magnitude = {}};
    tensor.values.resize(size_t(tensor.elements()));
    const std::span<double> values = tensor.values;
    if (tensor.spec.role != Role::out)
      in_parallel(tensor.elements(), kPart, [&](int64_t first, int64_t last) {
        made.read(t, first, 1, values.subspan(size_t(first), size_t(last - first)));
      });
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<char> input_bytes(const Ladder& ladder, const Case& c, const Workload& workload,
                              size_t tensor, int64_t elements) {
  const MadeInputs made(ladder, c, workload, MadeInputs::Specials::none);
  const TensorSpec& spec = workload.tensors[tensor];
  std::vector<char> bytes(bytes_for(spec.dtype, elements));
  in_parallel(elements, kPart, [&](int64_t first, int64_t last) {
    std::array<double, 1024> some;
    for (int64_t at = first; at < last; at += int64_t(some.size())) {
      const auto part = std::span(some).first(size_t(std::min<int64_t>(last - at, some.size())));
      made.read(tensor, at, 1, part);
      store_all(spec.dtype, bytes.data(), at, part);
    }
  });
  return bytes;
}

}  // namespace ridge::harness
