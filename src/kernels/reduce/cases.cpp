#include "ladder/cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reduce/reduce.h"
#include "ladder/family.h"

namespace ridge::reduce {
namespace {

constexpr int kKinds = int(Kind::count_equal) + 1;
constexpr Dtype kFormats[] = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32};

Kind kind_of(const Case& c) { return Kind(c.op); }
int64_t length_of(const Case& c) { return c.size("n"); }

// Up to here numbers are arbitrary, and an error may grow with every addition. Beyond, that would
// allow more than an element is worth, so sums are of small integers and exact in any order.
constexpr int64_t kMostRoundings = 1024;
bool is_rounded(const Case& c) { return length_of(c) <= kMostRoundings; }

// Larger inputs are for timing only, and are better made without looking at every element.
constexpr int64_t kMostStructured = 1 << 22;

bool is_ordering(Kind kind) {
  return kind == Kind::max || kind == Kind::min || kind == Kind::argmax;
}

Fill fill_of(const Case& c) {
  if (length_of(c) > kMostStructured) return Fill::uniform;
  if (kind_of(c) == Kind::count_equal) return Fill::small_ints;
  // Where order decides, few different numbers make ties, many show a wrong one.
  return is_rounded(c) != is_ordering(kind_of(c)) ? Fill::uniform : Fill::small_ints;
}

// What a case with specials is about: NaN among numbers, both infinities, one of them, nothing
// else.
enum Special {
  kOneNan,
  kNansAndInfinities,
  kInfinity,
  kBothInfinities,
  kAllMinusInfinity,
  kSpecials
};

std::optional<double> special(const Case& c, int64_t index) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto n = uint64_t(length_of(c));
  const auto at = [&](uint64_t which) { return hash(c.seed, 7 + which) % n == uint64_t(index); };
  switch (Special(c.seed % kSpecials)) {
    case kOneNan: return at(0) ? std::optional(NAN) : std::nullopt;
    case kNansAndInfinities:
      if (at(0) || at(1)) return NAN;
      return at(2) || at(3) ? std::optional(kInf) : std::nullopt;
    case kInfinity: return at(0) || at(1) ? std::optional(kInf) : std::nullopt;
    case kBothInfinities:
      if (at(0)) return kInf;
      return at(1) ? std::optional(-kInf) : std::nullopt;
    default: return -kInf;
  }
}

// Few roundings: any sign, and sizes whose product stays in reach. More: powers of two, few of them
// other than 1 and -1, so that the product of any part is exact.
double factor(const Case& c, int64_t index) {
  const uint64_t bits = hash(c.seed + 3, uint64_t(index));
  const double sign = bits & 1 ? -1 : 1;
  const bool integer = c.dtype == Dtype::i32;
  if (is_rounded(c) && !integer) return sign * std::exp2(unit(bits) - 0.5);
  const uint64_t rare = (bits >> 1) % uint64_t(std::max<int64_t>(length_of(c) / 8, 8));
  if (rare == 0) return 2 * sign;
  return rare == 1 && !integer ? sign / 2 : sign;
}

double integer(const Case& c, size_t tensor, int64_t index) {
  const int32_t bits = int32_t(hash(c.seed + 5 + tensor, uint64_t(index)));
  // A reference in float64 holds sums of these exactly.
  return kind_of(c) == Kind::dot ? bits >> 16 : bits;
}

void workload(const Case& c, Workload& w) {
  const Kind kind = kind_of(c);
  const auto n = double(length_of(c));
  for (TensorSpec& t : w.tensors) t.fill = fill_of(c);
  TensorSpec& out = w["out"];
  out.rounding = out.arithmetic = 0;
  if (is_floating(out.dtype) && !is_ordering(kind)) {
    // The rung with one atomic per element rounds a sum or product n times, and the first operand
    // of each is one of n; a square or a product of two elements is rounded too. Exact sums of
    // small integers stay exact until they are divided by n, or a root is taken, and rounded again.
    if (is_rounded(c) || length_of(c) > kMostStructured)
      out.arithmetic = kind == Kind::norm_l2 ? n / 2 + 2 : n + 2, out.rounding = 1;
    else if (kind == Kind::mean || kind == Kind::norm_l2) out.arithmetic = out.rounding = 1;
  }
  w.cost = {.read = n * double(size_of(c.dtype)) * (kind == Kind::dot ? 2 : 1),
            .written = double(size_of(out.dtype)),
            .flops = n * (kind == Kind::dot || kind == Kind::norm_l2 ? 2 : 1)};
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const Kind kind = kind_of(c);
  if (length_of(c) > kMostStructured) return std::nullopt;
  if (c.specials && tensor == 0)
    if (const auto value = special(c, index)) return value;
  if (kind == Kind::product) return factor(c, index);
  if (c.dtype == Dtype::i32 && kind != Kind::count_equal) return integer(c, tensor, index);
  // Where some elements are given, all must be: those that are not special.
  if (c.specials) return double(int(hash(c.seed + 11 + tensor, uint64_t(index)) % 9)) - 4;
  return std::nullopt;
}

std::vector<Case> tests() {
  std::vector<Case> cases;
  for (int op = 0; op < kKinds; ++op)
    for (const Dtype dtype : kFormats) {
      if (!supports_format(Kind(op), dtype)) continue;
      append(cases, crossed({.ops = {op},
                             .dtypes = {dtype},
                             .shapes = {{0}, {1}, {9}, {257}, {1024}, {1031}, {8195}},
                             .specials = false}));
      // Many blocks, and a thread with several packs.
      append(cases, crossed({.ops = {op},
                             .dtypes = {dtype},
                             .shapes = {{70'001}},
                             .misalignments = {1},
                             .specials = false}));
    }
  for (int op = 0; op < kKinds; ++op)
    for (const Dtype dtype : kFloats)
      for (int special = 0; special < kSpecials; ++special)
        for (const int64_t n : {257, 8191})
          cases.push_back({.op = op,
                           .dtype = dtype,
                           .shape = {n},
                           .seed = uint64_t(special + kSpecials * n),
                           .specials = true});
  // The vectors of a dot product never reach a boundary together.
  append(cases, crossed({.ops = {int(Kind::dot)},
                         .dtypes = {std::begin(kFormats), std::end(kFormats)},
                         .shapes = {{0}, {1}, {9}, {17}, {257}, {8195}, {70'001}},
                         .misalignments = {2},
                         .skew = 1,
                         .specials = false}));
  // Values other than 0: some that are there, and one that is not.
  for (const double value : {2.0, -4.0, 5.0})
    append(cases, crossed({.ops = {int(Kind::count_equal)},
                           .dtypes = {std::begin(kFormats), std::end(kFormats)},
                           .shapes = {{9}, {1031}, {8195}},
                           .specials = false,
                           .parameters = {{"value", value}}}));
  // Any shape is a vector.
  append(cases, crossed({.ops = {int(Kind::sum), int(Kind::argmax)},
                         .shapes = {{3, 0, 5}, {7, 9}, {5, 3, 2, 41}},
                         .specials = false}));
  // More packs than a grid has threads.
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
    cases.push_back({.dtype = dtype, .shape = {2'400'011}, .misalignment = 3});
  return cases;
}

std::vector<Case> timings() {
  constexpr int64_t kLarge = 1 << 28;
  std::vector<Case> cases = {
      {.dtype = Dtype::f32, .shape = {kLarge}},  {.dtype = Dtype::i32, .shape = {kLarge}},
      {.dtype = Dtype::bf16, .shape = {kLarge}}, {.dtype = Dtype::f32, .shape = {1 << 24}},
      {.dtype = Dtype::i32, .shape = {1 << 24}}, {.dtype = Dtype::f32, .shape = {1 << 20}},
      {.dtype = Dtype::i32, .shape = {1 << 20}}, {.dtype = Dtype::f32, .shape = {100'000'007}}};
  for (int op = 1; op < kKinds; ++op) {
    cases.push_back({.op = op, .dtype = Dtype::f32, .shape = {kLarge}});
    cases.push_back({.op = op, .dtype = Dtype::bf16, .shape = {kLarge}});
    cases.push_back({.op = op, .dtype = Dtype::f32, .shape = {1 << 24}});
    cases.push_back({.op = op, .dtype = Dtype::f32, .shape = {1 << 20}});
  }
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "one number of a whole vector",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {1 << 20}},
          .input = input};
}

}  // namespace ridge::reduce
