#include "ladder/cases.h"

#include <cmath>

#include "kernels/gemv_quantised/gemv_quantised.h"
#include "ladder/family.h"

namespace ridge::gemv_quantised {
namespace {

// Even seeds have codes, scales and x of which all sums are exact in any order, so that no product
// can be lost within a tolerance. Among specials some scales are NaN.
bool is_exact(const Case& c) { return c.seed % 2 == 0; }

void workload(const Case& c, Workload& w) {
  const double rows = double(c.size("rows")), cols = double(c.size("cols"));
  TensorSpec& y = w["y"];
  // A sum of n products is rounded n times at most, each time by a roundoff of what the magnitudes
  // add up to; then the scale, and in columns the product of x with it.
  y.arithmetic = is_exact(c) ? 0 : cols + 4;
  if (is_exact(c)) y.rounding = 0;
  for (const TensorSpec& t : w.tensors)
    if (t.name != "y") w.cost.read += double(bytes_for(t.dtype, count(t.shape)));
  w.cost.written = rows * double(size_of(c.dtype));
  w.cost.flops = 2 * rows * cols;
}

double exact(Dtype dtype, const std::string& name, uint64_t noise) {
  if (name == "x") return double(noise % 7) - 3;
  if (name == "mean" || name == "group_scales" || name == "tensor_scale") return 1;
  if (name == "scales") return double(uint64_t(1) << noise % 3);
  if (dtype == Dtype::nf4) return double(noise % 3) - 1;  // the only whole ones
  if (dtype == Dtype::i8 && noise % 5 == 0) return noise & 64 ? 127 : -128;
  const double values[] = {-6, -4, -3, -2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.0};
  return values[noise % 16];
}
double ordinary(Dtype dtype, const std::string& name, uint64_t noise) {
  if (name == "x") return 2 * unit(noise) - 1;
  if (name == "q")
    return decode(dtype, dtype == Dtype::e4m3   ? noise % 127 + noise % 2 * 128
                         : dtype == Dtype::e5m2 ? noise % 96 + noise % 2 * 128
                                                : noise % (uint64_t(1) << bits_of(dtype)));
  const double size = 0.5 + unit(noise);
  if (dtype == Dtype::ue8m0) return std::ldexp(1, int(noise % 9) - 4);
  return dtype == Dtype::f32 ? size / 64 : size * (noise & 1 && dtype == Dtype::e4m3 ? -90 : 90);
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const TensorDef& def = c.def->tensors[tensor];
  if (def.role == Role::out) return std::nullopt;
  const Dtype dtype = c.format(def.name);
  const uint64_t noise = hash(c.seed * 16 + tensor, uint64_t(index));
  if (c.specials && noise % 61 == 0) {
    if (def.name == "scales") return NAN;
    if (def.name == "q" && (dtype == Dtype::e4m3 || dtype == Dtype::e5m2)) return NAN;
  }
  return is_exact(c) ? exact(dtype, def.name, noise) : ordinary(dtype, def.name, noise);
}

std::vector<Case> tests() {
  // Around a pack, a block, a square, and the packs of a warp; the last rows of a group of four.
  const Shapes shapes = {{0, 32},  {3, 0},    {1, 1},    {1, 7},    {2, 2},    {5, 30},
                         {4, 32},  {9, 48},   {3, 64},   {7, 96},   {6, 128},  {130, 160},
                         {5, 512}, {3, 1024}, {2, 1056}, {17, 544}, {4, 2080}, {1, 8192}};
  std::vector<Case> cases;
  uint64_t seed = 1;
  for (int op = 0; op < kFormatCount; ++op)
    for (size_t s = 0; s < shapes.size(); ++s)
      for (size_t d = 0; d < kFloats.size(); ++d) {
        Case c = {.op = op, .dtype = kFloats[d], .shape = shapes[s], .seed = seed};
        seed += s % 2 ? 1 : 3;
        c.misalignment = (s + d + size_t(op)) % 6 == 1;
        c.specials = (s + 2 * d) % 5 == 0;
        if (kFormats[op].may_be_e5m2 && (s + d) % 2) c.formats = {{"q", Dtype::e5m2}};
        cases.push_back(c);
      }
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (int op = 0; op < kFormatCount; ++op)
    for (const std::vector<int64_t>& shape :
         Shapes{{16384, 16384}, {4096, 4096}, {28672, 8192}, {8192, 28672}})
      cases.push_back({.op = op, .dtype = Dtype::bf16, .shape = shape});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "y = W x, where W is quantised",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::bf16, .shape = {512, 1024}},
          .input = input};
}

}  // namespace ridge::gemv_quantised
