#include "ladder/cases.h"

#include "kernels/segmented_scan/segmented_scan.h"
#include "kernels/segmented_scan/variants.h"
#include "ladder/family.h"

namespace ridge::segmented_scan {
namespace {

constexpr size_t kMarks = 1;

// Two segments every so many elements.
int64_t period(const Case& c) {
  if (c.is_distributed("segments_of_4")) return 7;
  if (c.is_distributed("segments_of_150")) return 300;
  return c.is_distributed("segments_of_4500") ? 9000 : 2048;
}

// Of element `index`; the first segment has no head at all.
int32_t segment_of(const Case& c, int64_t index) {
  if (c.is_distributed("one_segment")) return 0;
  const int64_t both = period(c), pair = index / both, place = index % both;
  const uint64_t noise = hash(c.seed, uint64_t(pair));
  return int32_t(2 * pair + (place >= 1 + int64_t(noise % uint64_t(both - 1))));
}

void workload(const Case& c, Workload& w) {
  const double n = double(c.size("n")), bytes = n * double(size_of(c.dtype));
  TensorSpec &in = w["in"], &out = w["out"];
  // i32 sums wrap around soon, i64 sums soon leave 32 bits, and those of small integers are exact.
  if (c.dtype == Dtype::f32) in.fill = c.specials ? Fill::uniform : Fill::small_ints;
  else in.fill = Fill::index, in.limit = c.dtype == Dtype::i32 ? 1 << 28 : int64_t(1) << 31;
  out.rounding = 0;
  out.arithmetic = c.dtype == Dtype::f32 && c.specials ? 1 : 0;  // the magnitude has the rest
  w.cost = {.read = bytes + n * double(size_of(w.tensors[kMarks].dtype)), .written = bytes};
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor != kMarks) return std::nullopt;
  const int32_t segment = segment_of(c, index);
  if (is_by_key(c.op)) return segment;
  // Any number but 0 is a head.
  return index > 0 && segment != segment_of(c, index - 1) ? 1 + segment % 255 : 0;
}

std::vector<Case> tests() {
  // A chunk of rung 02 is 1024, a tile of rung 03 is 4096 (i64 2048).
  std::vector<Case> cases =
      crossed({.ops = {kInclusive, kExclusive, kInclusiveByKey, kExclusiveByKey},
               .dtypes = {Dtype::i32, Dtype::f32, Dtype::i64},
               .shapes = {{0}, {1}, {5}, {1025}, {4096}, {4097}, {20011}},
               .misalignments = {0, 1, 3}});
  const std::vector<std::string> lengths = {"segments_of_4", "segments_of_150", "segments_of_4500",
                                            "one_segment"};
  for (size_t i = 0; i < cases.size(); ++i)  // in turn, and not in step with the misalignments
    cases[i].distribution = lengths[(i + i / lengths.size()) % lengths.size()];
  append(cases, crossed({.ops = {kInclusive, kExclusiveByKey},
                         .dtypes = {Dtype::i32},
                         .shapes = {{20011}},
                         .specials = false,
                         .distributions = {"", "segments_of_4", "segments_of_150",
                                           "segments_of_4500", "one_segment"}}));
  append(cases, crossed({.ops = {kExclusive, kInclusiveByKey},
                         .dtypes = {Dtype::i32, Dtype::i64},
                         .shapes = {{20011}},
                         .specials = false,
                         .distributions = {"segments_of_150"},
                         .same = {{"out", "in"}}}));
  for (const int op : {kInclusive, kExclusiveByKey})
    for (const int skew : {1, 2, 3})
      cases.push_back({.op = op,
                       .dtype = Dtype::i32,
                       .shape = {20011},
                       .seed = uint64_t(skew),
                       .skew = skew,
                       .distribution = lengths[size_t(skew)]});
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::i32, .shape = {1 << 28}},
          {.dtype = Dtype::i32, .shape = {1 << 24}},
          {.dtype = Dtype::f32, .shape = {100'000'007}},
          {.op = kInclusiveByKey, .dtype = Dtype::i32, .shape = {1 << 28}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "sums of prefixes that start again at every head, or with every new key",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::i32, .shape = {1 << 19}},
          .input = input};
}

}  // namespace ridge::segmented_scan
