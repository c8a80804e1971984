#include "ladder/cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/axis_reduce/axis_reduce.h"
#include "ladder/family.h"

namespace ridge::axis_reduce {
namespace {

constexpr int kKinds = int(Kind::norm_l2) + 1;

Kind kind_of(const Case& c) { return Kind(c.op); }
int64_t length_of(const Case& c) { return c.size("length"); }

// Up to here numbers are arbitrary, and an error may grow with every addition. Beyond, sums are of
// small integers and exact in any order.
constexpr int64_t kMostRoundings = 1024;
bool is_rounded(const Case& c) { return length_of(c) <= kMostRoundings; }

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

// About one per axis, so that some results have none.
std::optional<double> special(const Case& c, int64_t index) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kSpecials[] = {NAN, kInf, -kInf, 0.0, -0.0};
  const uint64_t bits = hash(c.seed + 7, uint64_t(index));
  if (bits % uint64_t(std::max<int64_t>(length_of(c), 8)) != 0) return std::nullopt;
  return kSpecials[(bits >> 32) % std::size(kSpecials)];
}

// Few roundings: any sign, and sizes whose product stays in reach of f16. More: powers of two, few
// of them other than 1 and -1, so that the product of any part is exact.
double factor(const Case& c, int64_t index) {
  const uint64_t bits = hash(c.seed + 3, uint64_t(index));
  const double sign = bits & 1 ? -1 : 1;
  if (is_rounded(c)) return sign * std::exp2((unit(bits) - 0.5) / 4);
  const uint64_t rare = (bits >> 1) % uint64_t(length_of(c) / 4);
  return rare == 0 ? 2 * sign : rare == 1 ? sign / 2 : sign;
}

void workload(const Case& c, Workload& w) {
  const Kind kind = kind_of(c);
  const double length = double(length_of(c));
  const double results = double(c.size("outer")) * double(c.size("inner"));
  w["x"].fill = fill_of(c);
  TensorSpec& out = w["out"];
  out.rounding = out.arithmetic = 0;
  // One thread may add or multiply all elements of an axis, each time with a rounding; a mean
  // divides as well. Squares are rounded too, but a root halves all that came before it. Of exact
  // sums only means and roots are rounded. The greatest of some numbers is one of them.
  if (!is_ordering(kind) && is_rounded(c)) {
    out.rounding = 1;
    out.arithmetic = kind == Kind::norm_l2 ? length / 2 + 2 : length + 1;
  } else if (kind == Kind::mean || kind == Kind::norm_l2) {
    out.rounding = out.arithmetic = 1;
  }
  w.cost = {.read = results * length * double(size_of(c.dtype)),
            .written = results * double(size_of(out.dtype)),
            .flops = results * length * (kind == Kind::norm_l2 ? 2 : 1)};
}

// Products and squares of arbitrary numbers leave f32, and by which way they are computed decides
// where: theirs are chosen.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const Kind kind = kind_of(c);
  if (tensor != 0 || count(c.shape) > kMostStructured) return std::nullopt;
  if (kind != Kind::product && (kind != Kind::norm_l2 || !c.specials)) return std::nullopt;
  if (c.specials)
    if (const auto value = special(c, index)) return value;
  if (kind == Kind::product) return factor(c, index);
  return double(int(hash(c.seed + 11, uint64_t(index)) % 9)) - 4;
}

// Two numbers are rows, (outer, length); three are (outer, length, inner); others say the axis.
std::vector<Case> tests() {
  std::vector<int> every;
  for (int op = 0; op < kKinds; ++op) every.push_back(op);
  // Rows of every length that the top rung tells apart, then columns: narrow, wide, odd, and packs.
  std::vector<Case> cases =
      crossed({.ops = every,
               .dtypes = kFloats,
               .shapes = {{0, 5}, {3, 0}, {1, 1}, {67, 13}, {35, 61}, {9, 250}, {5, 2003}}});
  append(cases, crossed({.ops = every,
                         .dtypes = kFloats,
                         .shapes = {{2, 0, 3},
                                    {3, 5, 0},
                                    {2, 2, 2},
                                    {3, 7, 33},
                                    {2, 70, 3},
                                    {3, 33, 24},
                                    {2, 65, 257},
                                    {1, 200, 512}}}));
  append(cases, crossed({.ops = {0},
                         .dtypes = kFloats,
                         .shapes = {{7, 63}, {3, 40, 7}, {2, 3, 16}, {2, 131, 130}},
                         .misalignments = {0, 3},
                         .padding = {3, 8},
                         .specials = false}));
  // Wide rows that start anywhere, in one block and in many.
  const Shapes wide = {{2, 70, 299}, {1, 300, 523}, {1, 33, 1033}};
  append(cases, crossed({.ops = {int(Kind::sum), int(Kind::argmax)},
                         .dtypes = kFloats,
                         .shapes = wide,
                         .misalignments = {0, 1},
                         .padding = {0, 2},
                         .specials = false}));
  append(cases, crossed({.ops = every,
                         .dtypes = {Dtype::f32, Dtype::bf16},
                         .shapes = wide,
                         .misalignments = {3},
                         .specials = false}));
  // Few and long: blocks share them.
  append(cases, crossed({.ops = every,
                         .dtypes = kFloats,
                         .shapes = {{1, 70'001}, {3, 20'011}, {1, 6001, 40}, {2, 5000, 5}},
                         .misalignments = {1},
                         .specials = false}));
  // So many that a warp each is enough.
  append(cases, crossed({.ops = {0},
                         .dtypes = {Dtype::f32, Dtype::bf16},
                         .shapes = {{4230, 33, 3}, {4230, 32, 9}},
                         .misalignments = {0},
                         .specials = false}));
  // Other axes, from either end; padding lies within what comes behind most of them.
  for (const int axis : {0, 2, 3, -1, -2, -4})
    append(cases, crossed({.ops = {int(Kind::sum), int(Kind::argmax)},
                           .shapes = {{3, 5, 4, 6}},
                           .padding = axis == 2 || axis == -2 ? std::vector<int64_t>{0, 2}
                                                              : std::vector<int64_t>{0},
                           .specials = false,
                           .parameters = {{"axis", double(axis)}}}));
  append(cases, crossed({.ops = every, .shapes = {{33}, {37, 11}}, .parameters = {{"axis", 0}}}));
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases = {
      {.dtype = Dtype::f32, .shape = {65536, 4096}},
      {.dtype = Dtype::f32, .shape = {1, 16384, 16384}},
      {.dtype = Dtype::bf16, .shape = {65536, 4096}},
      {.dtype = Dtype::bf16, .shape = {1, 65536, 4096}},
      {.dtype = Dtype::f32, .shape = {1 << 20, 256}},
      {.dtype = Dtype::f32, .shape = {1 << 22, 32}},
      {.dtype = Dtype::f32, .shape = {64, 1 << 21}},
      {.dtype = Dtype::f32, .shape = {4096, 64, 1024}},
      {.dtype = Dtype::f32, .shape = {1 << 16, 512, 8}},
      {.dtype = Dtype::f32, .shape = {1, 1 << 20, 64}},
      {.dtype = Dtype::f32, .shape = {8, 8, 1 << 20}},
      {.dtype = Dtype::f32, .shape = {8191, 8193}},
      {.dtype = Dtype::bf16, .shape = {1, 8191, 8193}},
      {.op = int(Kind::argmax), .dtype = Dtype::f32, .shape = {65536, 4096}},
      {.op = int(Kind::argmax), .dtype = Dtype::f32, .shape = {1, 16384, 16384}},
      {.op = int(Kind::argmax), .dtype = Dtype::bf16, .shape = {1, 65536, 4096}}};
  for (int op = 1; op < kKinds; ++op)
    cases.push_back({.op = op, .dtype = Dtype::bf16, .shape = {65536, 4096}});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "one axis of a tensor reduced",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {512, 1024}},
          .input = input};
}

}  // namespace ridge::axis_reduce
