#include "ladder/cases.h"
#include "kernels/segmented_scan/family.h"

namespace ridge::segmented_scan {
namespace {

enum Op { kInclusive, kExclusive, kInclusiveByKey, kExclusiveByKey };

// Two segments every so many elements: the smaller cases, which tests run, go from 3 or 4 elements
// a segment to a single segment.
constexpr int64_t kVariedUpTo = 1 << 17;
int64_t period(const Case& c) {
  constexpr int64_t kPeriods[] = {7, 300, 9000, kVariedUpTo + 1};
  return c.shape[0] <= kVariedUpTo ? kPeriods[c.seed % 4] : 2048;
}

}  // namespace

int32_t segment_of(const Case& c, int64_t index) {
  const int64_t pair = index / period(c), place = index % period(c);
  const uint64_t noise = (uint64_t(pair) + c.seed) * 0x9e3779b97f4a7c15u >> 33;
  return int32_t(2 * pair + (place >= 1 + int64_t(noise % uint64_t(period(c) - 1))));
}

Family::Family() : Erased(segmented_scan::rungs()) {
  family = "segmented_scan";
  summary = "sums of prefixes that start again at every head, or with every new key";
  operators = {"inclusive_segmented_scan", "exclusive_segmented_scan", "inclusive_scan_by_key",
               "exclusive_scan_by_key"};
  dtypes = {Dtype::i32, Dtype::f32, Dtype::i64};
  shape_help = "N";
  // A chunk of rung 02 is 1024, a tile of rung 03 is 4096 (i64 2048).
  tests = crossed({.ops = {kInclusive, kExclusive, kInclusiveByKey, kExclusiveByKey},
                   .dtypes = dtypes,
                   .shapes = {{0}, {1}, {5}, {1025}, {4096}, {4097}, {20011}},
                   .misalignments = {0, 1, 3}});
  append(tests, crossed({.ops = {kInclusive, kExclusiveByKey},
                         .dtypes = {Dtype::i32},
                         .shapes = {{20011}},
                         .misalignments = {0, 0, 0, 0, 1, 1, 1},  // every period
                         .specials = false}));
  for (const Op op : {kInclusive, kExclusiveByKey})
    for (const int skew : {1, 2, 3})
      tests.push_back(
          {.op = op, .dtype = Dtype::i32, .shape = {20011}, .seed = uint64_t(skew), .skew = skew});
  timings = {{.dtype = Dtype::i32, .shape = {1 << 28}},
             {.dtype = Dtype::i32, .shape = {1 << 24}},
             {.dtype = Dtype::f32, .shape = {100'000'007}},
             {.op = kInclusiveByKey, .dtype = Dtype::i32, .shape = {1 << 28}}};
  tour = {.dtype = Dtype::i32, .shape = {1 << 19}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 1); }

Workload Family::workload(const Case& c) const {
  const double bytes = double(c.shape[0]) * double(size_of(c.dtype));
  const Dtype marks = is_by_key(c) ? Dtype::i32 : Dtype::u8;
  TensorSpec in = {.name = "in", .dtype = c.dtype, .shape = c.shape};
  // i32 sums wrap around soon, i64 sums soon leave 32 bits, and those of small integers are exact.
  if (c.dtype == Dtype::f32) in.fill = c.specials ? Fill::uniform : Fill::small_ints;
  else in.fill = Fill::index, in.limit = c.dtype == Dtype::i32 ? 1 << 28 : int64_t(1) << 31;
  TensorSpec out = {.name = "out", .dtype = c.dtype, .shape = c.shape, .role = Role::out};
  out.rounding = 0;
  out.arithmetic = c.dtype == Dtype::f32 && c.specials ? 1 : 0;  // the magnitude has the rest
  return {.tensors = {in,
                      {.name = is_by_key(c) ? "keys" : "heads", .dtype = marks, .shape = c.shape},
                      out},
          .cost = {.read = bytes + double(c.shape[0]) * double(size_of(marks)), .written = bytes}};
}

std::optional<double> Family::input(const Case& c, size_t tensor, int64_t index) const {
  if (tensor != 1) return std::nullopt;
  const int32_t segment = segment_of(c, index);
  if (is_by_key(c)) return segment;
  // Any number but 0 is a head.
  return index > 0 && segment != segment_of(c, index - 1) ? 1 + segment % 255 : 0;
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.in = t[0],
          .heads = is_by_key(c) ? nullptr : static_cast<const uint8_t*>(t[1]),
          .keys = is_by_key(c) ? static_cast<const int32_t*>(t[1]) : nullptr,
          .out = t[2],
          .n = c.shape[0],
          .inclusive = is_inclusive(c),
          .dtype = c.dtype};
}

}  // namespace ridge::segmented_scan
