#include "ladder/cases.h"

#include <algorithm>

#include "kernels/segmented_reduce/segmented_reduce.h"
#include "ladder/family.h"

namespace ridge::segmented_reduce {
namespace {

enum Tensor : size_t { kX, kOffsets, kOut };
constexpr int kKinds = int(Kind::mean) + 1;
constexpr Dtype kFormats[] = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i32};

// How lengths are spread.
constexpr const char* kAlike = "alike";           // all have the mean length
constexpr const char* kRandom = "random";         // 0 … twice the mean
constexpr const char* kOneHuge = "one_huge";      // one has half of all elements
constexpr const char* kMostEmpty = "most_empty";  // one of 16 has what 16 should have

// Elements in segments; x may have more.
int64_t used_of(const Case& c) { return c.size("segments") * c.size("mean"); }

int64_t jitter(const Case& c, int64_t s) {  // -mean/2 … mean/2
  return int64_t(hash(c.seed, uint64_t(s)) % uint64_t(c.size("mean") + 1)) - c.size("mean") / 2;
}
int64_t offset(const Case& c, int64_t s) {
  const int64_t segments = c.size("segments"), mean = c.size("mean"), used = used_of(c);
  if (s == 0) return 0;
  if (s == segments) return used;
  if (c.is_distributed(kRandom)) return std::clamp<int64_t>(s * mean + jitter(c, s), 0, used);
  if (c.is_distributed(kOneHuge))
    return (used - used / 2) / segments * s + (s > segments / 3 ? used / 2 : 0);
  if (c.is_distributed(kMostEmpty)) return s / 16 * 16 * mean;
  return s * mean;
}

// Short segments are of arbitrary numbers, and an error may grow with every addition. Sums of long
// ones are of small integers, and exact in any order, unless there are special numbers among them.
bool is_even(const Case& c) { return c.is_distributed(kAlike) || c.is_distributed(kRandom); }
bool is_rounded(const Case& c) { return c.specials || (is_even(c) && c.size("mean") <= 256); }
int64_t longest(const Case& c) { return is_even(c) ? 2 * c.size("mean") : used_of(c); }

void workload(const Case& c, Workload& w) {
  const Kind kind = Kind(c.op);
  const bool ordering = kind == Kind::max || kind == Kind::min;
  const bool rounded = is_rounded(c) && is_floating(c.dtype);
  w["x"].fill = rounded ? Fill::uniform : Fill::small_ints;
  w["offsets"].fill = Fill::zero;
  TensorSpec& out = w["out"];
  out.rounding = out.arithmetic = 0;
  // As many roundings as additions, one more for the quotient of a mean, and one to a format that
  // is not f32. Of exact sums, only means are rounded.
  if (!ordering && is_floating(out.dtype) && (rounded || kind == Kind::mean)) {
    out.arithmetic = rounded ? double(longest(c)) + 1 : 1;
    if (out.dtype != Dtype::f32) out.rounding = 1;
  }
  const auto used = double(used_of(c)), segments = double(c.size("segments"));
  w.cost = {.read = used * double(size_of(c.dtype)) +
                    (segments + 1) * double(size_of(w["offsets"].dtype)),
            .written = segments * double(size_of(out.dtype)),
            .flops = used};
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor != kOffsets) return std::nullopt;
  return double(offset(c, index));
}

Status check(const Case& c) {
  const int64_t n = c.size("n"), used = used_of(c);
  if (n < used)
    return Error{2, "x has " + std::to_string(n) + " elements, but the segments have " +
                        std::to_string(used)};
  if (c.format("offsets") == Dtype::i32 && used > INT32_MAX)
    return Error{2, "offsets up to " + std::to_string(used) + " are more than i32 holds"};
  return Status::ok();
}

// --- tests ---

struct Segments {
  int64_t count, mean;
  const char* distribution;
};

// Offsets are i64, and i32 where tensors are misaligned.
std::vector<Case> of_segments(const std::vector<int>& ops, const std::vector<Dtype>& dtypes,
                              const std::vector<Segments>& all, bool specials) {
  std::vector<Case> cases;
  for (const Segments& s : all)
    append(cases, crossed({.ops = ops,
                           .dtypes = dtypes,
                           .shapes = {{s.count, s.mean}},
                           .specials = specials,
                           .distributions = {s.distribution}}));
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].seed = i + 1;
    if (cases[i].misalignment) cases[i].formats = {{"offsets", Dtype::i32}};
  }
  return cases;
}

std::vector<Case> tests() {
  // Every bin, each with lengths that stay in it and such that leave it.
  std::vector<Segments> all = {
      {0, 5, kAlike}, {3, 0, kAlike}, {1, 1, kAlike}, {700, 1, kRandom}, {300, 1, kMostEmpty}};
  for (const char* distribution : {kAlike, kRandom, kOneHuge, kMostEmpty})
    for (const int64_t mean : {8, 33, 200, 700, 4099, 9001}) {
      const int64_t count = mean < 100 ? 261 : mean < 1000 ? 67 : 9;
      all.push_back({count, mean, distribution});
    }
  const std::vector<Segments> fewer = {
      {0, 5, kAlike},     {3, 0, kAlike},     {700, 1, kRandom},  {300, 1, kMostEmpty},
      {261, 8, kRandom},  {261, 33, kRandom}, {67, 300, kRandom}, {67, 700, kMostEmpty},
      {9, 4099, kRandom}, {9, 9001, kOneHuge}};
  std::vector<Case> cases;
  for (int op = 0; op < kKinds; ++op)
    for (const Dtype dtype : kFormats) {
      if (!supports_format(Kind(op), dtype)) continue;
      const bool every = Kind(op) == Kind::sum || (Kind(op) == Kind::max && dtype == Dtype::f32);
      append(cases, of_segments({op}, {dtype}, every ? all : fewer, true));
    }
  // Long ones that many blocks share, alone and among others, and more blocks than short segments.
  append(cases, of_segments({int(Kind::sum), int(Kind::max)}, {Dtype::f32, Dtype::bf16, Dtype::i32},
                            {{1, 400'003, kAlike},
                             {3, 100'001, kRandom},
                             {3, 150'001, kOneHuge},
                             {50, 8001, kOneHuge},
                             {3501, 40, kOneHuge},
                             {17'501, 8, kOneHuge},
                             {33, 20'000, kMostEmpty}},
                            false));
  // Elements behind the last segment are in none.
  append(cases, crossed({.ops = {int(Kind::sum), int(Kind::min)},
                         .dtypes = {Dtype::f32, Dtype::i32},
                         .shapes = {{0, 5, 7}, {261, 33, 261 * 33 + 77}, {9, 4099, 50'000}},
                         .specials = false}));
  return cases;
}

std::vector<Case> timings() {
  constexpr int64_t kLarge = 1 << 28;
  std::vector<Case> cases;
  const auto add = [&](Dtype dtype, int64_t segments, int64_t mean, const char* distribution) {
    cases.push_back({.dtype = dtype, .shape = {segments, mean}, .distribution = distribution});
  };
  for (const int64_t mean : {256, 4096, 65536}) {
    add(Dtype::i32, kLarge / mean, mean, "");
    add(Dtype::f32, kLarge / mean, mean, "");
    add(Dtype::f32, kLarge / mean, mean, kRandom);
  }
  for (const int64_t mean : {1, 8, 64, 1024}) add(Dtype::f32, (kLarge / 4) / mean, mean, kRandom);
  add(Dtype::f32, kLarge / 256, 256, kOneHuge);
  add(Dtype::f32, kLarge / 256, 256, kMostEmpty);
  add(Dtype::f32, 16, kLarge / 16, "");
  for (int op = 1; op < kKinds; ++op)
    cases.push_back({.op = op, .dtype = Dtype::f32, .shape = {kLarge / 256, 256}});
  for (const int64_t mean : {8, 64, 256, 4096, 65536})
    add(Dtype::bf16, kLarge / mean, mean, kRandom);
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "one result for each segment of a vector",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {4096, 256}},
          .input = input,
          .check = check};
}

}  // namespace ridge::segmented_reduce
