#include "ladder/cases.h"
#include "kernels/transpose/family.h"

namespace ridge::transpose {

Family::Family() : Erased(transpose::rungs()) {
  family = "transpose";
  summary = "out(b, c, r) = in(b, r, c)";
  operators = {"transpose"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::u8};
  shape_help = "ROWSxCOLUMNS, or BATCHxROWSxCOLUMNS";
  // Around the tiles of most rungs: 32, 64, 128.
  const Shapes shapes = {{0, 5},   {5, 0},   {1, 1},    {1, 257},   {257, 1},     {31, 33},
                         {64, 64}, {65, 63}, {128, 96}, {129, 131}, {3, 37, 100}, {2, 16, 64}};
  tests = crossed({.dtypes = {Dtype::f32, Dtype::bf16, Dtype::u8},
                   .shapes = shapes,
                   .padding = {0, 3},
                   .specials = false});
  append(tests, crossed({.dtypes = {Dtype::f16}, .shapes = {{70, 90}}}));
  // Around the largest tiles, more than one group of them, aligned rows that end inside a pack, and
  // all phases of a pack.
  append(tests, crossed({.dtypes = dtypes,
                         .shapes = {{256, 257}, {300, 520}, {1100, 70}},
                         .specials = false}));
  append(tests, crossed({.dtypes = {Dtype::f32, Dtype::bf16, Dtype::u8},
                         .shapes = {{130, 150}},
                         .misalignments = {0, 2, 5, 11},
                         .padding = {1, 10, 16},
                         .specials = false}));
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::u8})
    tests.push_back({.dtype = dtype, .shape = {96, 160}, .misalignment = 3, .skew = 2});
  timings = {{.dtype = Dtype::f32, .shape = {16384, 16384}},
             {.dtype = Dtype::bf16, .shape = {16384, 16384}},
             {.dtype = Dtype::u8, .shape = {16384, 16384}},
             {.dtype = Dtype::f32, .shape = {8191, 8193}},
             {.dtype = Dtype::bf16, .shape = {8191, 8193}},
             {.dtype = Dtype::u8, .shape = {16383, 16385}},
             {.dtype = Dtype::f32, .shape = {4096, 4096}},
             {.dtype = Dtype::bf16, .shape = {64, 2048, 1024}},
             {.dtype = Dtype::f32, .shape = {1 << 22, 48}}};
  tour = {.shape = {1024, 768}};
}

Status Family::check(const Case& c) const {
  return check_case(*this, c, c.shape.size() == 3 ? 3 : 2);
}

Workload Family::workload(const Case& c) const {
  const double bytes = double(count(c.shape)) * double(size_of(c.dtype));
  std::vector<int64_t> turned = c.shape;
  std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
  return {.tensors = {{.name = "in",
                       .dtype = c.dtype,
                       .shape = c.shape,
                       .fill = c.dtype == Dtype::u8 ? Fill::bytes : Fill::uniform},
                      {.name = "out",
                       .dtype = c.dtype,
                       .shape = turned,
                       .role = Role::out,
                       .rounding = 0,  // bits are moved
                       .arithmetic = 0}},
          .cost = {.read = bytes, .written = bytes}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const size_t n = c.shape.size();
  const int64_t rows = c.shape[n - 2], cols = c.shape[n - 1];
  return {.in = t[0],
          .out = t[1],
          .batch = n == 3 ? c.shape[0] : 1,
          .rows = rows,
          .cols = cols,
          .in_stride = cols + c.padding,
          .out_stride = rows + c.padding,
          .in_batch_stride = rows * (cols + c.padding),
          .out_batch_stride = cols * (rows + c.padding),
          .dtype = c.dtype};
}

}  // namespace ridge::transpose
