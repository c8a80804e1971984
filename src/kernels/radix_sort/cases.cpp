#include "ladder/cases.h"

#include "kernels/radix_sort/radix_sort.h"
#include "ladder/family.h"

namespace ridge::radix_sort {
namespace {

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (c.op == kPairs && tensor == 1) return double(index % (1 << 24));  // f32 holds it, too
  if (tensor != 0 || c.specials) return std::nullopt;
  const uint64_t noise = hash(c.seed, uint64_t(index));
  const double lowest = c.dtype == Dtype::u32 ? 0 : -0x1p31;
  if (c.is_distributed("few_values")) return double(noise % 11);
  if (c.is_distributed("equal")) return 12345;
  if (c.is_distributed("rising")) return double(index);
  if (c.is_distributed("falling")) return double(c.size("n") - index);
  return lowest + double(noise >> 32);
}

void workload(const Case& c, Workload& w) {
  w["keys"].fill = Fill::spread;  // with NaN, infinities and -0
  for (TensorSpec& tensor : w.tensors)
    if (tensor.role == Role::out) tensor.rounding = tensor.arithmetic = 0;
  const double bytes = double(c.size("n")) * (c.op == kPairs ? 8 : 4);
  w.cost = {.read = bytes, .written = bytes};
}

std::vector<Case> tests() {
  // A tile of rung 02 is 2048, of the last two 7680.
  std::vector<Case> cases = crossed({.ops = {kKeys, kPairs},
                                     .dtypes = {Dtype::u32, Dtype::i32, Dtype::f32},
                                     .shapes = {{0}, {1}, {2}, {257}, {2047}, {2049}, {7681}}});
  append(cases, crossed({.ops = {kPairs},
                         .dtypes = {Dtype::u32, Dtype::f32},
                         .shapes = {{7679}, {7680}, {20011}},
                         .misalignments = {1},
                         .specials = false,
                         .distributions = {"few_values", "equal", "rising", "falling"}}));
  std::vector<Case> falling = crossed({.ops = {kKeys, kPairs},
                                       .dtypes = {Dtype::i32, Dtype::f32},
                                       .shapes = {{1000}, {13001}},
                                       .parameters = {{"descending", 1}},
                                       .distributions = {"random", "few_values"}});
  append(cases, falling);
  return cases;
}

std::vector<Case> timings() {
  return {{.op = kKeys, .dtype = Dtype::u32, .shape = {1 << 26}},
          {.op = kPairs, .dtype = Dtype::u32, .shape = {1 << 26}},
          {.op = kKeys, .dtype = Dtype::f32, .shape = {1 << 26}},
          {.op = kKeys, .dtype = Dtype::u32, .shape = {1 << 20}},
          {.op = kPairs, .dtype = Dtype::i32, .shape = {10'000'019}},
          {.op = kKeys, .dtype = Dtype::u32, .shape = {1 << 26}, .distribution = "few_values"},
          {.op = kKeys, .dtype = Dtype::u32, .shape = {2048}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "keys of 32 bits in order, alone or with values; equal keys keep their order",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.op = kKeys, .dtype = Dtype::u32, .shape = {2048}},
          .input = input};
}

}  // namespace ridge::radix_sort
