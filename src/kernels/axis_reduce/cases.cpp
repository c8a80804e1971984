#include "ladder/cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/axis_reduce/family.h"

namespace ridge::axis_reduce {
namespace {

Kind kind_of(const Case& c) { return Kind(c.op); }
int64_t outer_of(const Case& c) { return c.shape[0]; }
int64_t axis_of(const Case& c) { return c.shape[1]; }
int64_t inner_of(const Case& c) { return c.shape[2]; }

// Up to here numbers are arbitrary, and an error may grow with every addition. Beyond, sums are of
// small integers and exact in any order.
constexpr int64_t kMostRoundings = 1024;
bool is_rounded(const Case& c) { return axis_of(c) <= kMostRoundings; }

// Larger inputs are for timing only, and are better made without looking at every element.
constexpr int64_t kMostStructured = 1 << 22;

bool is_ordering(Kind kind) {
  return kind == Kind::max || kind == Kind::min || kind == Kind::argmax;
}

Fill fill_of(const Case& c) {
  // Few different numbers make ties, and a place tells them apart; many show a wrong one.
  if (kind_of(c) == Kind::argmax && is_rounded(c)) return Fill::small_ints;
  return is_rounded(c) || is_ordering(kind_of(c)) ? Fill::uniform : Fill::small_ints;
}

// About one an axis, so that some results have none.
std::optional<double> special(const Case& c, int64_t index) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kSpecials[] = {NAN, kInf, -kInf, 0.0, -0.0};
  const uint64_t bits = hash(c.seed + 7, uint64_t(index));
  if (bits % uint64_t(std::max<int64_t>(axis_of(c), 8)) != 0) return std::nullopt;
  return kSpecials[(bits >> 32) % std::size(kSpecials)];
}

// Few roundings: any sign, and sizes whose product stays in reach of f16. More: powers of two, few
// of them other than 1 and -1, so that the product of any part is exact.
double factor(const Case& c, int64_t index) {
  const uint64_t bits = hash(c.seed + 3, uint64_t(index));
  const double sign = bits & 1 ? -1 : 1;
  if (is_rounded(c)) return sign * std::exp2((unit(bits) - 0.5) / 4);
  const uint64_t rare = (bits >> 1) % uint64_t(axis_of(c) / 4);
  return rare == 0 ? 2 * sign : rare == 1 ? sign / 2 : sign;
}

}  // namespace

Family::Family() : Erased(axis_reduce::rungs()) {
  family = "axis_reduce";
  summary = "one axis of a tensor reduced";
  operators = {"sum_axis",     "max_axis",    "min_axis",     "mean_axis",
               "product_axis", "argmax_axis", "norm_l1_axis", "norm_l2_axis"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "OUTERxAXISxINNER";
  std::vector<int> every;
  for (int op = 0; op < int(operators.size()); ++op) every.push_back(op);
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
  const Shapes wide = {{2, 70, 299}, {1, 300, 523}, {1, 33, 1033}};
  append(tests, crossed({.ops = {int(Kind::sum), int(Kind::argmax)},
                         .dtypes = dtypes,
                         .shapes = wide,
                         .misalignments = {0, 1},
                         .padding = {0, 2},
                         .specials = false}));
  append(tests, crossed({.ops = every,
                         .dtypes = {Dtype::f32, Dtype::bf16},
                         .shapes = wide,
                         .misalignments = {3},
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
             {.op = int(Kind::argmax), .dtype = Dtype::f32, .shape = {65536, 4096, 1}},
             {.op = int(Kind::argmax), .dtype = Dtype::f32, .shape = {1, 16384, 16384}},
             {.op = int(Kind::argmax), .dtype = Dtype::bf16, .shape = {1, 65536, 4096}}};
  for (int op = 1; op < int(operators.size()); ++op)
    timings.push_back({.op = op, .dtype = Dtype::bf16, .shape = {65536, 4096, 1}});
  tour = {.shape = {512, 1024, 1}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 3); }

// Where there is one column, a row of the tensor is an axis; the padding goes between the rows.
Workload Family::workload(const Case& c) const {
  const int64_t o = outer_of(c), a = axis_of(c), i = inner_of(c);
  const bool rows = i == 1;
  const Kind kind = kind_of(c);
  TensorSpec out = {.name = "out",
                    .dtype = format_of_result(kind, c.dtype),
                    .shape = rows ? std::vector{o} : std::vector{o, i},
                    .role = Role::out,
                    .rounding = 0,
                    .arithmetic = 0};
  // One thread may add or multiply all elements of an axis, each time with a rounding; a mean
  // divides as well. Squares are rounded too, but a root halves all that came before it. Of exact
  // sums only means and roots are rounded. The greatest of some numbers is one of them.
  if (!is_ordering(kind) && is_rounded(c)) {
    out.rounding = 1;
    out.arithmetic = kind == Kind::norm_l2 ? double(a) / 2 + 2 : double(a) + 1;
  } else if (kind == Kind::mean || kind == Kind::norm_l2) {
    out.rounding = out.arithmetic = 1;
  }
  return {.tensors = {{.name = "x",
                       .dtype = c.dtype,
                       .shape = rows ? std::vector{o, a} : std::vector{o, a, i},
                       .fill = fill_of(c)},
                      out},
          .cost = {.read = double(o) * double(a) * double(i) * double(size_of(c.dtype)),
                   .written = double(o) * double(i) * double(size_of(out.dtype)),
                   .flops = double(o) * double(a) * double(i) * (kind == Kind::norm_l2 ? 2 : 1)}};
}

// Products and squares of arbitrary numbers leave f32, and by which way they are computed decides
// where: theirs are chosen.
std::optional<double> Family::input(const Case& c, size_t tensor, int64_t index) const {
  const Kind kind = kind_of(c);
  if (tensor != 0 || count(c.shape) > kMostStructured) return std::nullopt;
  if (kind != Kind::product && (kind != Kind::norm_l2 || !c.specials)) return std::nullopt;
  if (c.specials)
    if (const auto value = special(c, index)) return value;
  if (kind == Kind::product) return factor(c, index);
  return double(int(hash(c.seed + 11, uint64_t(index)) % 9)) - 4;
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const bool rows = inner_of(c) == 1;
  const int64_t row = (rows ? axis_of(c) : inner_of(c)) + c.padding;
  return {.kind = kind_of(c),
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
