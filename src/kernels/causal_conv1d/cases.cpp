#include "ladder/cases.h"

#include <cmath>

#include "core/number.h"
#include "kernels/causal_conv1d/causal_conv1d.h"
#include "ladder/family.h"

namespace ridge::causal_conv1d {
namespace {

bool has_bias(const Case& c) { return c.seed % 3 != 0; }
// Without silu, whole numbers make every sum exact, whatever its order.
bool is_exact(const Case& c) { return c.seed % 2 == 0 && !c.specials && !c.flag("silu"); }

void workload(const Case& c, Workload& w) {
  if (!has_bias(c)) std::erase_if(w.tensors, [](const TensorSpec& t) { return t.name == "bias"; });
  const double width = double(c.size("width")), rows = double(c.size("batch") * c.size("channels"));
  const double one = rows * double(c.size("length")) * double(size_of(c.dtype));
  const bool backward = Op(c.op) == Op::backward;
  w.cost.read = backward ? 2 * one : one;
  w.cost.written = one;
  // Roundoffs of f32: width + 1 of z, which silu makes no more than 1.1 times larger, and its own
  // 4, or 12 of its slope; then the products and sums of the gradients, one after another.
  const double z = width + 1, silu = c.flag("silu") ? 1 : 0;
  const double sums = double(c.size("batch")) * double(c.size("length"));
  // In 16 bits, silu and its slope are off by an eighth of a roundoff of the format, too.
  const double eighth = c.dtype == Dtype::f32 ? 0 : silu / 8;
  for (TensorSpec& t : w.tensors) {
    if (is_exact(c)) t.fill = Fill::counted;
    if (t.role == Role::in) continue;
    t.rounding = 1 + eighth;
    if (t.name == "y") t.arithmetic = 1.1 * z + 4 * silu;
    if (t.name == "dx") t.arithmetic = silu * (z + 12) + width + 1;
    if (t.name == "dw" || t.name == "dbias") {
      t.arithmetic =
          silu * (z + 12) + sums + 1 + eighth * unit_roundoff(c.dtype) / unit_roundoff(Dtype::f32);
      t.rounding = 0;
    }
    if (is_exact(c)) t.arithmetic = 0;
  }
}

// x has what is not finite; w and bias are whole numbers.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (!c.specials) return std::nullopt;
  const uint64_t bits = hash(c.seed * 4 + tensor, uint64_t(index));
  if (tensor == 0 && bits % 64 < 4) {
    constexpr double kValues[] = {NAN, INFINITY, -INFINITY, -0.0};
    return kValues[bits % 64];
  }
  return double(int(bits >> 8 & 7) - 3);
}

std::vector<Case> tests() {
  // Around packs of 4 and 8, and segments of 512 and 1024 elements.
  const Shapes shapes = {{0, 3, 5, 4},   {2, 0, 5, 4},    {2, 3, 0, 3},    {1, 1, 1, 2},
                         {2, 3, 2, 4},   {2, 5, 7, 3},    {3, 2, 8, 4},    {1, 3, 17, 2},
                         {1, 2, 511, 4}, {2, 1, 1024, 4}, {1, 3, 1025, 3}, {2, 2, 2056, 4}};
  std::vector<Case> cases;
  for (const double silu : {0.0, 1.0})
    append(cases, crossed({.ops = {0, 1},
                           .dtypes = kFloats,
                           .shapes = shapes,
                           .misalignments = {0},
                           .specials = false,
                           .parameters = {{"silu", silu}}}));
  for (const double silu : {0.0, 1.0})
    append(cases, crossed({.ops = {0, 1},
                           .dtypes = kFloats,
                           .shapes = {{2, 3, 45, 4}, {1, 2, 1030, 3}},
                           .misalignments = {1},
                           .padding = {3},
                           .skew = 1,
                           .padding_skew = 1,
                           .specials = false,
                           .parameters = {{"silu", silu}}}));
  append(cases,
         crossed({.ops = {0}, .dtypes = kFloats, .shapes = {{2, 3, 45, 4}}, .misalignments = {0}}));
  return cases;
}

std::vector<Case> timings() {
  const Shapes real = {
      {8, 4096, 2048, 4}, {1, 8192, 8192, 4}, {64, 1536, 197, 3}, {4, 2048, 4095, 2}};
  std::vector<Case> cases;
  for (const int op : {0, 1})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const auto& shape : real)
        cases.push_back({.op = op, .dtype = dtype, .shape = shape, .parameters = {{"silu", 1.0}}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "depthwise causal convolution of rows, with silu, forward and backward",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {2, 16, 2048, 4}, .parameters = {{"silu", 1.0}}},
          .input = input};
}

}  // namespace ridge::causal_conv1d
