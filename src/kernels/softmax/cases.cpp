#include "ladder/cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/softmax/softmax.h"
#include "ladder/family.h"

namespace ridge::softmax {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSpan = 16;  // of Fill::spread: no x is farther below its row's maximum
constexpr double kReach = 8;  // of Fill::spread: the largest y

// Even seeds, but for specials, give numbers whose sums are exact in any order, so that no column
// can be lost, or come twice, within a tolerance: backward, small whole numbers (and y = 0 where it
// is exponentiated); forward, a few zeros among numbers so low that their exponentials are 0.
bool is_exact(const Case& c) { return c.seed % 2 == 0 && !c.specials; }

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44du;
  return x ^ (x >> 33);
}

double sparse(uint64_t seed, int64_t index, int64_t cols) {
  const int64_t c = index % cols;
  const uint64_t one_in = uint64_t(std::max<int64_t>(2, cols / 32));
  const bool is_zero =
      c == 0 || c == cols - 1 || mixed(seed * 1000003 + uint64_t(index)) % one_in == 0;
  return is_zero ? 0 : -200;
}

// Each row shows one thing that can happen to exponentials.
double special_x(int64_t index, int64_t cols) {
  const int64_t r = index / cols, c = index % cols;
  const double plain = double(mixed(uint64_t(index)) % 17) - 8;
  switch (r % 8) {
    case 0: return c == cols - 1 ? NAN : plain;
    case 1: return c == cols / 2 ? kInfinity : plain;
    case 2: return -kInfinity;
    case 3: return c % 3 == 0 ? plain : -kInfinity;  // a mask
    case 4: return c == cols / 3 ? -1e4 : -kInfinity;
    case 5: return c == 0 ? 6e4 : c == cols - 1 ? -6e4 : plain;
    case 6: return c % 2 ? 1e30 : -1e30;
    default: return c % 2 ? -0.0 : 0.0;
  }
}
double special_gradient(int64_t index, int64_t cols) {
  const int64_t r = index / cols, c = index % cols;
  const double plain = double(mixed(uint64_t(index)) % 9) - 4;
  switch (r % 4) {
    case 0: return c == cols - 1 ? NAN : plain;
    case 1: return c == 0 ? kInfinity : plain;
    case 2: return c == cols / 2 ? -kInfinity : plain;
    default: return plain;
  }
}

// Roundoffs of f32, worst case, n columns. Exponentials of a difference d: 3 |d| + 4, of which d's
// own rounding has one |d|; those that are made relative to another maximum first, 4 more. Sums one
// after another: n. Then a handful of operations, each one.
double arithmetic_of(const Case& c) {
  const double n = double(c.size("cols")), exponential = 3 * kSpan + 8;
  switch (Op(c.op)) {
    case Op::softmax: return is_exact(c) ? 1 : 2 * exponential + n + 3;
    case Op::log_softmax: return is_exact(c) ? 4 : exponential + n + 4;
    case Op::softmax_bwd: return is_exact(c) ? 0 : n + 4;
    default: return is_exact(c) ? 0 : n + 3 * kReach + 4 + 3;
  }
}

void workload(const Case& c, Workload& w) {
  const Op op = Op(c.op);
  const double bytes = double(c.size("rows")) * double(c.size("cols")) * double(size_of(c.dtype));
  TensorSpec& in = w.tensors.front();
  TensorSpec& out = w.tensors.back();
  out.arithmetic = arithmetic_of(c);
  w.cost = {.read = (is_backward(op) ? 2 : 1) * bytes, .written = bytes};
  if (!is_backward(op)) {
    in.fill = Fill::spread;
    return;
  }
  w["dy"].fill = is_exact(c) ? Fill::small_ints : Fill::uniform;
  if (op == Op::log_softmax_bwd) in.fill = is_exact(c) ? Fill::zero : Fill::spread;
  else in.fill = is_exact(c) ? Fill::small_ints : Fill::positive;
  if (is_exact(c)) out.rounding = 0;
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const int64_t cols = std::max<int64_t>(c.size("cols"), 1);
  if (!is_backward(Op(c.op))) {
    if (c.specials) return special_x(index, cols);
    if (is_exact(c)) return sparse(c.seed, index, cols);
  } else if (c.specials) {
    if (tensor == 1) return special_gradient(index, cols);
    return double(mixed(uint64_t(index)) % 5) / 4;  // as probabilities, with zeros
  }
  return std::nullopt;
}

const std::vector<int> kAll = {int(Op::softmax), int(Op::log_softmax), int(Op::softmax_bwd),
                               int(Op::log_softmax_bwd)};

std::vector<Case> tests() {
  std::vector<Case> cases =
      crossed({.ops = kAll,
               .dtypes = kFloats,
               .shapes = {{0, 5}, {5, 0}, {1, 1}, {67, 3}, {9, 33}, {9, 256}}});
  append(cases,
         crossed({.ops = kAll, .dtypes = kFloats, .shapes = {{9, 130}, {5, 517}}, .padding = {3}}));
  // The widths at which row_in_registers changes its threads: 4 lanes to a block of 1024, and those
  // that have fewer with more packs each.
  append(cases, crossed({.ops = kAll,
                         .dtypes = kFloats,
                         .shapes = {{8, 1031}, {2, 2048}, {1, 4097}, {1, 8193}, {1, 16385}}}));
  append(cases, crossed({.ops = kAll,
                         .dtypes = kFloats,
                         .shapes = {{1, 33001}},
                         .misalignments = {1},
                         .specials = false}));
  append(cases, crossed({.ops = {int(Op::softmax), int(Op::log_softmax_bwd)},  // past shared memory
                         .dtypes = {Dtype::f32},
                         .shapes = {{1, 60003}},
                         .specials = false}));
  // In place, with rows of a few lanes each, which do not fill their last block.
  for (const Dtype dtype : {Dtype::f32, Dtype::f16})
    for (const auto& shape : Shapes{{1, 16}, {9, 31}, {5, 517}}) {
      for (const int op : {int(Op::softmax), int(Op::log_softmax)})
        cases.push_back({.op = op, .dtype = dtype, .shape = shape, .same = {{"out", "x"}}});
      for (const int op : {int(Op::softmax_bwd), int(Op::log_softmax_bwd)})
        for (const char* const in : {"y", "dy"})
          cases.push_back({.op = op, .dtype = dtype, .shape = shape, .same = {{"dx", in}}});
    }
  // Every tensor at another distance from its boundary, and its rows at another distance from each
  // other. Odd and even seeds are two kinds of numbers.
  for (const int op : kAll)
    for (const Dtype dtype : kFloats)
      for (const auto& shape : Shapes{{9, 31}, {5, 517}, {2, 4100}})
        for (const uint64_t seed : {1, 2})
          for (const int64_t padding_skew : {0, 1})
            cases.push_back({.op = op,
                             .dtype = dtype,
                             .shape = shape,
                             .seed = seed,
                             .skew = 1,
                             .padding_skew = padding_skew});
  // Any number of dimensions before the last.
  append(cases, crossed({.ops = kAll, .shapes = {{33}, {2, 3, 4, 31}}, .padding = {0, 5}}));
  return cases;
}

std::vector<Case> timings() {
  const Shapes real = {{16384, 16384}, {262144, 1024}, {2048, 131072}, {65536, 4096},
                       {8192, 32768},  {1024, 262144}, {8192, 50257},  {1 << 22, 64}};
  std::vector<Case> cases;
  for (const int op : kAll)
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
      for (const auto& shape : real)
        if (op == 0 || shape[1] == 1024 || shape[1] == 16384 || shape[1] == 131072)
          cases.push_back({.op = op, .dtype = dtype, .shape = shape});
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "softmax and log_softmax along rows, forward and backward",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {256, 2048}},
          .input = input};
}

}  // namespace ridge::softmax
