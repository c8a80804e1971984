#include "ladder/cases.h"

#include <algorithm>

#include "kernels/normalize/family.h"

namespace ridge::normalize {
namespace {

int64_t rows_of(const Case& c) { return Kind(c.op) == Kind::clip ? 1 : c.shape[0]; }
int64_t cols_of(const Case& c) { return c.shape.back(); }

// Tensors of a case are aligned alike; only with this misalignment is there a column in front of x
// that nobody reads, so that x and out have boundaries in different places.
constexpr int kApart = 2;
int64_t skipped(const Case& c) { return c.misalignment == kApart ? 1 : 0; }

}  // namespace

Family::Family() : Erased(normalize::rungs()) {
  family = "normalize";
  summary = "rows over their norms, and vectors cut down to one";
  operators = {"l1_normalize", "l2_normalize", "clip_by_global_norm"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "ROWSxCOLUMNS, or N for clip_by_global_norm";
  const std::vector<int> of_rows = {int(Kind::l1), int(Kind::l2)};
  append(tests, crossed({.ops = of_rows,
                         .dtypes = dtypes,
                         .shapes = {{0, 5}, {5, 0}, {1, 1}, {67, 3}, {7, 9}, {64, 64}, {35, 129}},
                         .misalignments = {0, 1, kApart},
                         .padding = {0, 3}}));
  // Every number of lanes and registers that a row may get, and rows that are read twice.
  append(tests,
         crossed({.ops = of_rows,
                  .dtypes = dtypes,
                  .shapes = {{9, 500}, {5, 1000}, {3, 4001}, {3, 8003}, {2, 20'011}, {2, 70'001}},
                  .misalignments = {0, kApart},
                  .specials = false}));
  append(tests, crossed({.ops = {int(Kind::clip)},
                         .dtypes = dtypes,
                         .shapes = {{0}, {1}, {9}, {257}, {1031}, {8192}, {100'003}},
                         .misalignments = {0, 1, kApart}}));

  timings = {{.op = 1, .dtype = Dtype::bf16, .shape = {65536, 4096}},
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
      timings.push_back({.op = 2, .dtype = dtype, .shape = {n}});
  tour = {.op = 1, .shape = {512, 1024}};
}

Status Family::check(const Case& c) const {
  return check_case(*this, c, Kind(c.op) == Kind::clip ? 1 : 2);
}

Workload Family::workload(const Case& c) const {
  const Kind kind = Kind(c.op);
  const double size = double(rows_of(c)) * double(cols_of(c)) * double(size_of(c.dtype));
  std::vector<int64_t> wider = c.shape;
  wider.back() += skipped(c);
  // No thread adds more than 64 elements or a 256th of a row, and ten steps combine what they have.
  // A root halves an error; squaring, the root, adding 1e-6, dividing and scaling each make one.
  const double additions = std::max(64.0, double(cols_of(c)) / 256) + 10;
  const double errors = kind == Kind::l1 ? additions + 2 : additions / 2 + 5;
  Workload work = {.tensors = {{.name = "x", .dtype = c.dtype, .shape = wider},
                               {.name = "out",
                                .dtype = c.dtype,
                                .shape = c.shape,
                                .role = Role::out,
                                .rounding = 1,
                                .arithmetic = errors}},
                   .cost = {.read = size, .written = size}};
  if (kind == Kind::clip)
    work.tensors.push_back({.name = "norm",
                            .dtype = Dtype::f32,
                            .shape = {1},
                            .role = Role::out,
                            .rounding = 1,
                            .arithmetic = errors});
  return work;
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const bool clip = Kind(c.op) == Kind::clip;
  const int64_t stride = cols_of(c) + c.padding;
  return {.kind = Kind(c.op),
          .x = static_cast<char*>(t[0]) + skipped(c) * int64_t(size_of(c.dtype)),
          .out = t[1],
          .norm = clip ? static_cast<float*>(t[2]) : nullptr,
          .rows = rows_of(c),
          .cols = cols_of(c),
          .x_stride = stride + skipped(c),
          .out_stride = stride,
          .dtype = c.dtype};
}

}  // namespace ridge::normalize
