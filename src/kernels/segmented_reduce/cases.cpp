#include "ladder/cases.h"

#include <algorithm>

#include "kernels/segmented_reduce/family.h"

namespace ridge::segmented_reduce {
namespace {

// How lengths are spread.
enum Spread {
  kAlike,      // all have the mean length
  kRandom,     // 0 … twice the mean
  kOneHuge,    // one has half of all elements
  kMostEmpty,  // one of 16 has what 16 should have
  kSpreads,
};

int64_t segments_of(const Case& c) { return c.shape[0]; }
int64_t mean_of(const Case& c) { return c.shape[1]; }
int64_t elements_of(const Case& c) { return segments_of(c) * mean_of(c); }

// Both kinds of offsets are tested: those of misaligned vectors are i32.
Dtype offset_dtype(const Case& c) { return c.misalignment ? Dtype::i32 : Dtype::i64; }

int64_t jitter(const Case& c, int64_t s) {  // -mean/2 … mean/2
  uint64_t z = c.seed * 0x9e3779b97f4a7c15u + uint64_t(s) * 0xd1342543de82ef95u;
  z = (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9u;
  return int64_t((z >> 33) % uint64_t(mean_of(c) + 1)) - mean_of(c) / 2;
}
int64_t offset(const Case& c, int64_t s) {
  const int64_t segments = segments_of(c), all = elements_of(c);
  if (s == 0) return 0;
  if (s == segments) return all;
  switch (Spread(c.shape[2])) {
    case kRandom: return std::clamp<int64_t>(s * mean_of(c) + jitter(c, s), 0, all);
    case kOneHuge: return (all - all / 2) / segments * s + (s > segments / 3 ? all / 2 : 0);
    case kMostEmpty: return s / 16 * 16 * mean_of(c);
    default: return s * mean_of(c);
  }
}

// Short segments are of arbitrary numbers, and an error may grow with every addition. Sums of long
// ones are of small integers, and exact in any order, unless there are special numbers among them.
bool is_rounded(const Case& c) {
  return c.specials || (c.shape[2] <= kRandom && mean_of(c) <= 256);
}
int64_t longest(const Case& c) { return c.shape[2] <= kRandom ? 2 * mean_of(c) : elements_of(c); }

}  // namespace

Family::Family() : Erased(segmented_reduce::rungs()) {
  family = "segmented_reduce";
  summary = "one result for each segment of a vector";
  operators = {"segmented_sum", "segmented_max", "segmented_min", "segmented_mean"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32};
  shape_help =
      "SEGMENTSxMEAN_LENGTHxSPREAD, the spread being 0: all alike, 1: random, 2: one has half of "
      "all, 3: 15 of 16 are empty";
  // Every bin, each with lengths that stay in it and such that leave it.
  Shapes shapes = {{0, 5, 0}, {3, 0, 0}, {1, 1, 0}, {700, 1, 1}, {300, 1, 3}};
  for (int64_t spread = 0; spread < kSpreads; ++spread)
    for (const int64_t mean : {8, 33, 200, 700, 4099, 9001}) {
      const int64_t segments = mean < 100 ? 261 : mean < 1000 ? 67 : 9;
      shapes.push_back({segments, mean, spread});
    }
  const Shapes fewer = {{0, 5, 0},    {3, 0, 0},    {700, 1, 1},  {300, 1, 3},  {261, 8, 1},
                        {261, 33, 1}, {67, 300, 1}, {67, 700, 3}, {9, 4099, 1}, {9, 9001, 2}};
  for (int op = 0; op < int(operators.size()); ++op)
    for (const Dtype dtype : dtypes) {
      if (!supports_format(Kind(op), dtype)) continue;
      const bool all = Kind(op) == Kind::sum || (Kind(op) == Kind::max && dtype == Dtype::f32);
      append(tests, crossed({.ops = {op}, .dtypes = {dtype}, .shapes = all ? shapes : fewer}));
    }
  // Long ones that many blocks share, alone and among others, and more blocks than short segments.
  append(tests, crossed({.ops = {int(Kind::sum), int(Kind::max)},
                         .dtypes = {Dtype::f32, Dtype::bf16, Dtype::i32},
                         .shapes = {{1, 400'003, 0},
                                    {3, 100'001, 1},
                                    {3, 150'001, 2},
                                    {50, 8001, 2},
                                    {3501, 40, 2},
                                    {17'501, 8, 2},
                                    {33, 20'000, 3}},
                         .specials = false}));

  constexpr int64_t kLarge = 1 << 28;
  for (const int64_t mean : {256, 4096, 65536}) {
    timings.push_back({.dtype = Dtype::i32, .shape = {kLarge / mean, mean, kAlike}});
    timings.push_back({.dtype = Dtype::f32, .shape = {kLarge / mean, mean, kAlike}});
    timings.push_back({.dtype = Dtype::f32, .shape = {kLarge / mean, mean, kRandom}});
  }
  for (const int64_t mean : {1, 8, 64, 1024})
    timings.push_back({.dtype = Dtype::f32, .shape = {(kLarge / 4) / mean, mean, kRandom}});
  timings.push_back({.dtype = Dtype::f32, .shape = {kLarge / 256, 256, kOneHuge}});
  timings.push_back({.dtype = Dtype::f32, .shape = {kLarge / 256, 256, kMostEmpty}});
  timings.push_back({.dtype = Dtype::f32, .shape = {16, kLarge / 16, kAlike}});
  for (int op = 1; op < int(operators.size()); ++op)
    timings.push_back({.op = op, .dtype = Dtype::f32, .shape = {kLarge / 256, 256, kAlike}});
  for (const int64_t mean : {8, 64, 256, 4096, 65536})
    timings.push_back({.dtype = Dtype::bf16, .shape = {kLarge / mean, mean, kRandom}});
  tour = {.shape = {4096, 256, kRandom}};
}

Status Family::check(const Case& c) const {
  if (const Status s = check_case(*this, c, 3); !s) return s;
  if (!supports_format(Kind(c.op), c.dtype))
    return Error{2, operators[size_t(c.op)] + " has no " + name_of(c.dtype)};
  if (c.shape[2] < kSpreads) return Status::ok();
  return Error{2, "there is no spread " + std::to_string(c.shape[2]) + "; " + shape_help};
}

Workload Family::workload(const Case& c) const {
  const auto n = double(elements_of(c)), segments = double(segments_of(c));
  const Kind kind = Kind(c.op);
  const Dtype result = format_of_result(kind, c.dtype);
  const bool ordering = kind == Kind::max || kind == Kind::min;
  const bool rounded = is_rounded(c) && is_floating(c.dtype);
  TensorSpec out = {.name = "out",
                    .dtype = result,
                    .shape = {segments_of(c)},
                    .role = Role::out,
                    .rounding = 0,
                    .arithmetic = 0};
  // As many roundings as additions, one more for the quotient of a mean, and one to a format that
  // is not f32. Of exact sums, only means are rounded.
  if (!ordering && is_floating(result) && (rounded || kind == Kind::mean)) {
    out.arithmetic = rounded ? double(longest(c)) + 1 : 1;
    if (result != Dtype::f32) out.rounding = 1;
  }
  return {.tensors = {{.name = "x",
                       .dtype = c.dtype,
                       .shape = {elements_of(c)},
                       .fill = rounded ? Fill::uniform : Fill::small_ints},
                      {.name = "offsets",
                       .dtype = offset_dtype(c),
                       .shape = {segments_of(c) + 1},
                       .fill = Fill::zero},
                      out},
          .cost = {.read = n * double(size_of(c.dtype)) +
                           (segments + 1) * double(size_of(offset_dtype(c))),
                   .written = segments * double(size_of(result)),
                   .flops = n}};
}

std::optional<double> Family::input(const Case& c, size_t tensor, int64_t index) const {
  if (tensor != 1) return std::nullopt;
  return double(offset(c, index));
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.kind = Kind(c.op),
          .x = t[0],
          .offsets = t[1],
          .out = t[2],
          .n = elements_of(c),
          .segments = segments_of(c),
          .dtype = c.dtype,
          .offset_dtype = offset_dtype(c)};
}

}  // namespace ridge::segmented_reduce
