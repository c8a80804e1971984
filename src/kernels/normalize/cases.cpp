#include "ladder/cases.h"

#include <algorithm>

#include "kernels/normalize/normalize.h"
#include "ladder/family.h"

namespace ridge::normalize {
namespace {

void workload(const Case& c, Workload& w) {
  const Kind kind = Kind(c.op);
  const bool clip = kind == Kind::clip;
  const double rows = clip ? 1 : double(c.size("rows")), cols = double(c.size(clip ? "n" : "cols"));
  const double bytes = rows * cols * double(size_of(c.dtype));
  // No thread adds more than 64 elements or a 256th of a row, and ten steps combine what they have.
  // A root halves an error; squaring, the root, adding 1e-6, dividing and scaling each make one.
  const double additions = std::max(64.0, cols / 256) + 10;
  const double errors = kind == Kind::l1 ? additions + 2 : additions / 2 + 5;
  w["out"].arithmetic = errors;
  if (clip) w["norm"].arithmetic = errors;
  w.cost = {.read = bytes, .written = bytes};
}

std::vector<Case> tests() {
  const std::vector<int> of_rows = {int(Kind::l1), int(Kind::l2)}, clip = {int(Kind::clip)};
  const Shapes small = {{0, 5}, {5, 0}, {1, 1}, {67, 3}, {7, 9}, {64, 64}, {35, 129}};
  std::vector<Case> cases =
      crossed({.ops = of_rows, .dtypes = kFloats, .shapes = small, .padding = {0, 3}});
  // Rows of x and of out that reach boundaries in different places.
  append(cases, crossed({.ops = of_rows,
                         .dtypes = kFloats,
                         .shapes = small,
                         .misalignments = {0, 2},
                         .padding = {0, 3},
                         .skew = 1,
                         .padding_skew = 1,
                         .specials = false}));
  // Every number of lanes and registers that a row may get, and rows that are read twice.
  const Shapes wide = {{9, 500}, {5, 1000}, {3, 4001}, {3, 8003}, {2, 20'011}, {2, 70'001}};
  append(cases, crossed({.ops = of_rows,
                         .dtypes = kFloats,
                         .shapes = wide,
                         .misalignments = {0},
                         .specials = false}));
  append(cases, crossed({.ops = of_rows,
                         .dtypes = kFloats,
                         .shapes = wide,
                         .misalignments = {2},
                         .skew = 1,
                         .padding_skew = 1,
                         .specials = false}));
  // Norms on both sides of epsilon.
  for (const double epsilon : {0.0, 0.5, 40.0})
    append(cases, crossed({.ops = of_rows,
                           .dtypes = kFloats,
                           .shapes = {{67, 1}, {67, 3}, {9, 129}, {3, 5, 2003}},
                           .misalignments = {0},
                           .parameters = {{"epsilon", epsilon}}}));

  // In place, with rows of a few lanes each, which do not fill their last block.
  append(cases, crossed({.ops = of_rows,
                         .dtypes = {Dtype::f32, Dtype::f16},
                         .shapes = {{1, 16}, {9, 31}},
                         .misalignments = {0},
                         .specials = false,
                         .same = {{"out", "x"}}}));
  const Shapes vectors = {{0}, {1}, {9}, {257}, {1031}, {8192}, {100'003}};
  append(cases, crossed({.ops = clip, .dtypes = kFloats, .shapes = vectors}));
  append(cases, crossed({.ops = clip,
                         .dtypes = kFloats,
                         .shapes = vectors,
                         .misalignments = {0, 2},
                         .skew = 1,
                         .specials = false}));
  // Nothing is left, some is cut off, nothing is.
  for (const double max_norm : {0.0, 3.0, 1e4})
    append(cases, crossed({.ops = clip,
                           .dtypes = kFloats,
                           .shapes = {{1}, {257}, {31, 33}, {100'003}},
                           .parameters = {{"max_norm", max_norm}}}));
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases = {{.op = 1, .dtype = Dtype::bf16, .shape = {65536, 4096}},
                             {.op = 1, .dtype = Dtype::f32, .shape = {65536, 4096}},
                             {.op = 1, .dtype = Dtype::f32, .shape = {1 << 20, 128}},
                             {.op = 1, .dtype = Dtype::bf16, .shape = {1 << 18, 1024}},
                             {.op = 1, .dtype = Dtype::f32, .shape = {4096, 65536}},
                             {.op = 1, .dtype = Dtype::bf16, .shape = {2048, 131072}},
                             {.op = 1, .dtype = Dtype::f32, .shape = {16, 1 << 24}},
                             {.op = 1, .dtype = Dtype::bf16, .shape = {8191, 8193}},
                             {.op = 0, .dtype = Dtype::bf16, .shape = {65536, 4096}},
                             {.op = 0, .dtype = Dtype::f32, .shape = {65536, 4096}}};
  for (const int64_t n : {int64_t(1) << 28, int64_t(1) << 24, int64_t(1) << 20})
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
      cases.push_back({.op = 2, .dtype = dtype, .shape = {n}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "rows over their norms, and vectors cut down to one",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.op = 1, .shape = {512, 1024}}};
}

}  // namespace ridge::normalize
