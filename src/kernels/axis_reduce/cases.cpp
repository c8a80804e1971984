#include "ladder/cases.h"

#include "kernels/axis_reduce/family.h"

namespace ridge::axis_reduce {
namespace {

int64_t outer_of(const Case& c) { return c.shape[0]; }
int64_t axis_of(const Case& c) { return c.shape[1]; }
int64_t inner_of(const Case& c) { return c.shape[2]; }

// Up to here numbers are arbitrary, and an error may grow with every addition. Beyond, sums are of
// small integers and exact in any order.
constexpr int64_t kMostRoundings = 1024;

}  // namespace

Family::Family() : Erased(axis_reduce::rungs()) {
  family = "axis_reduce";
  summary = "one axis of a tensor reduced";
  operators = {"sum_axis", "max_axis", "mean_axis"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "OUTERxAXISxINNER";
  const std::vector<int> every = {0, 1, 2};
  // Rows of every length that the top rung tells apart, then columns: narrow, wide, odd, and packs.
  append(tests, crossed({.ops = every,
                         .dtypes = dtypes,
                         .shapes = {{0, 5, 1},
                                    {3, 0, 1},
                                    {1, 1, 1},
                                    {67, 13, 1},
                                    {35, 61, 1},
                                    {9, 250, 1},
                                    {5, 2003, 1}}}));
  append(tests, crossed({.ops = every,
                         .dtypes = dtypes,
                         .shapes = {{2, 0, 3},
                                    {3, 5, 0},
                                    {2, 2, 2},
                                    {3, 7, 33},
                                    {2, 70, 3},
                                    {3, 33, 24},
                                    {2, 65, 257},
                                    {1, 200, 512}}}));
  append(tests, crossed({.ops = {0},
                         .dtypes = dtypes,
                         .shapes = {{7, 63, 1}, {3, 40, 7}, {2, 3, 16}, {2, 131, 130}},
                         .misalignments = {0, 3},
                         .padding = {3, 8},
                         .specials = false}));
  // Wide rows that start anywhere, in one block and in many.
  append(tests, crossed({.ops = every,
                         .dtypes = dtypes,
                         .shapes = {{2, 70, 299}, {1, 300, 523}, {1, 33, 1033}},
                         .misalignments = {0, 1},
                         .padding = {0, 2},
                         .specials = false}));
  // Few and long: blocks share them.
  append(tests, crossed({.ops = every,
                         .dtypes = dtypes,
                         .shapes = {{1, 70'001, 1}, {3, 20'011, 1}, {1, 6001, 40}, {2, 5000, 5}},
                         .misalignments = {1},
                         .specials = false}));
  // So many that a warp each is enough.
  append(tests, crossed({.ops = {0},
                         .dtypes = {Dtype::f32, Dtype::bf16},
                         .shapes = {{4230, 33, 3}, {4230, 32, 9}},
                         .misalignments = {0},
                         .specials = false}));

  timings = {{.dtype = Dtype::f32, .shape = {65536, 4096, 1}},
             {.dtype = Dtype::f32, .shape = {1, 16384, 16384}},
             {.dtype = Dtype::bf16, .shape = {65536, 4096, 1}},
             {.dtype = Dtype::bf16, .shape = {1, 65536, 4096}},
             {.dtype = Dtype::f32, .shape = {1 << 20, 256, 1}},
             {.dtype = Dtype::f32, .shape = {1 << 22, 32, 1}},
             {.dtype = Dtype::f32, .shape = {64, 1 << 21, 1}},
             {.dtype = Dtype::f32, .shape = {4096, 64, 1024}},
             {.dtype = Dtype::f32, .shape = {1 << 16, 512, 8}},
             {.dtype = Dtype::f32, .shape = {1, 1 << 20, 64}},
             {.dtype = Dtype::f32, .shape = {8, 8, 1 << 20}},
             {.dtype = Dtype::f32, .shape = {8191, 8193, 1}},
             {.dtype = Dtype::bf16, .shape = {1, 8191, 8193}},
             {.op = 1, .dtype = Dtype::bf16, .shape = {65536, 4096, 1}},
             {.op = 2, .dtype = Dtype::bf16, .shape = {65536, 4096, 1}}};
  tour = {.shape = {512, 1024, 1}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 3); }

// Where there is one column, a row of the tensor is an axis; the padding goes between the rows.
Workload Family::workload(const Case& c) const {
  const int64_t o = outer_of(c), a = axis_of(c), i = inner_of(c);
  const bool rows = i == 1;
  const bool exact = a > kMostRoundings;
  TensorSpec out = {.name = "out",
                    .dtype = c.dtype,
                    .shape = rows ? std::vector{o} : std::vector{o, i},
                    .role = Role::out,
                    .rounding = 0,
                    .arithmetic = 0};
  // One thread may add all elements of an axis, each time with a rounding; a mean divides as well.
  // Of exact sums only means are rounded. The greatest of some numbers is one of them.
  if (Kind(c.op) != Kind::max && !exact) out.rounding = 1, out.arithmetic = double(a) + 1;
  else if (Kind(c.op) == Kind::mean) out.rounding = out.arithmetic = 1;
  return {.tensors = {{.name = "x",
                       .dtype = c.dtype,
                       .shape = rows ? std::vector{o, a} : std::vector{o, a, i},
                       .fill = exact ? Fill::small_ints : Fill::uniform},
                      out},
          .cost = {.read = double(o) * double(a) * double(i) * double(size_of(c.dtype)),
                   .written = double(o) * double(i) * double(size_of(c.dtype)),
                   .flops = double(o) * double(a) * double(i)}};
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const bool rows = inner_of(c) == 1;
  const int64_t row = (rows ? axis_of(c) : inner_of(c)) + c.padding;
  return {.kind = Kind(c.op),
          .x = t[0],
          .out = t[1],
          .outer = outer_of(c),
          .axis = axis_of(c),
          .inner = inner_of(c),
          .outer_stride = rows ? row : axis_of(c) * row,
          .axis_stride = rows ? 1 : row,
          .out_stride = rows ? 1 : row,
          .dtype = c.dtype};
}

}  // namespace ridge::axis_reduce
