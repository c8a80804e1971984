#include "ladder/cases.h"

#include "kernels/scan/variants.h"
#include "ladder/family.h"

namespace ridge::scan {
namespace {

// Small integers, whose sums no rounding touches: a lost element cannot hide in a tolerance.
constexpr int64_t kExactFrom = 1 << 13;  // elements
bool has_exact_sums(const Case& c) {
  return is_floating(c.dtype) && !c.specials &&
         (c.dtype != Dtype::f32 || c.size("n") >= kExactFrom);
}

// The most additions that an element passes through. The rungs that walk carry one sum through all
// chunks of 1024, after at most 22 additions in Blelloch's tree. With the look-back, at most 33 in
// the tile (a pack of 8, its row, 6 rows, 8 warps, then the pack again), and one for every tile
// after it, of 4096 elements or more.
double additions(int64_t n) { return double(n) / 1024 + 1 + 33; }

// Every prefix has a maximum of its own, more or less. Not for timings: so much is made on the
// host.
constexpr int64_t kRisingUpTo = 1 << 22;  // elements

void workload(const Case& c, Workload& w) {
  const double bytes = double(c.size("n")) * double(size_of(c.dtype));
  TensorSpec &in = w["in"], &out = w["out"];
  // i32 sums wrap around soon, i64 sums soon leave 32 bits.
  if (!is_floating(c.dtype))
    in.fill = Fill::index, in.limit = c.dtype == Dtype::i32 ? 1 << 28 : int64_t(1) << 31;
  else if (has_exact_sums(c)) in.fill = Fill::small_ints;
  // Sums in f32, rounded once more for a shorter format; all else is exact.
  const bool sums = combine_of(c.op) == Combine::sum && is_floating(c.dtype);
  out.rounding = sums && c.dtype != Dtype::f32 ? 1 : 0;
  out.arithmetic = sums && !has_exact_sums(c) ? additions(c.size("n")) : 0;
  w.cost = {.read = bytes, .written = bytes};
}

std::optional<double> input(const Case& c, size_t, int64_t index) {
  if (combine_of(c.op) == Combine::sum || c.specials || c.size("n") > kRisingUpTo)
    return std::nullopt;
  const uint32_t noise = (uint32_t(index) + uint32_t(c.seed)) * 2654435761u >> 24;
  return double(index) + double(noise) - 4096;
}

std::vector<Case> tests() {
  // A chunk of the first rungs is 1024, a tile of the last one 4096 (i64 2048, f16 8192).
  std::vector<Case> cases =
      crossed({.ops = {kInclusive, kExclusive},
               .dtypes = {Dtype::i32, Dtype::f32},
               .shapes = {{0}, {1}, {7}, {1023}, {1024}, {1025}, {4095}, {4096}, {4097}, {30011}}});
  append(cases, crossed({.ops = {kInclusive, kExclusive},
                         .dtypes = {Dtype::i64, Dtype::f16, Dtype::bf16},
                         .shapes = {{1}, {2048}, {8193}, {20011}}}));
  append(cases, crossed({.ops = {kInclusiveMax, kExclusiveMax},
                         .dtypes = {Dtype::i32, Dtype::f32},
                         .shapes = {{1}, {4097}, {12011}}}));
  append(cases, crossed({.ops = {kInclusiveMax},
                         .dtypes = {Dtype::i64, Dtype::f16, Dtype::bf16},
                         .shapes = {{9001}}}));
  append(cases, crossed({.ops = {kInclusive, kExclusive, kExclusiveMax},
                         .dtypes = {Dtype::i32, Dtype::f16},
                         .shapes = {{20011}},
                         .specials = false,
                         .same = {{"out", "in"}}}));
  // Output out of step with the input.
  for (const Dtype dtype : {Dtype::i32, Dtype::i64, Dtype::f16})
    for (const int skew : {1, 2, 3, 5})
      for (const int64_t n : {1, 20011})
        cases.push_back(
            {.dtype = dtype, .shape = {n}, .seed = 77, .misalignment = skew % 3, .skew = skew});
  for (const int skew : {0, 3})  // the large tiles
    cases.push_back({.dtype = Dtype::i32, .shape = {1'700'021}, .skew = skew});
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::i32, .shape = {1 << 28}},
          {.dtype = Dtype::i32, .shape = {1 << 24}},
          {.dtype = Dtype::i32, .shape = {1 << 20}},
          {.dtype = Dtype::f32, .shape = {1 << 28}},
          {.dtype = Dtype::i32, .shape = {100'000'007}},
          {.dtype = Dtype::i64, .shape = {1 << 27}},
          {.dtype = Dtype::bf16, .shape = {1 << 28}},
          {.op = kExclusive, .dtype = Dtype::i32, .shape = {1 << 28}},
          {.op = kExclusive, .dtype = Dtype::i32, .shape = {1 << 20}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "out[i] = in[0] + … + in[i], or without in[i]; or the maximum",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::i32, .shape = {1 << 19}},
          .input = input};
}

}  // namespace ridge::scan
