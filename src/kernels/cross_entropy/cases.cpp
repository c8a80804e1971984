#include "ladder/cases.h"

#include <algorithm>
#include <cmath>

#include "kernels/cross_entropy/cross_entropy.h"
#include "ladder/family.h"

namespace ridge::cross_entropy {
namespace {

constexpr double kSpan = 18;  // no logit is farther below its row's maximum

bool is_far(const Case& c) { return c.distribution == "large_logits"; }
// Even seeds, but for specials, give a few zeros among numbers so low that their exponentials are
// 0: sums are exact in any order, so that no column can be lost, or come twice, within a tolerance.
bool is_exact(const Case& c) { return c.seed % 2 == 0 && !c.specials && !is_far(c); }
bool is_none(const Case& c) { return Reduction(c.integer("reduction")) == Reduction::none; }

// Roundoffs of f32, worst case, n columns. Exponentials of a difference d: 3 |d| + 8, with those
// that are made relative to another maximum first. Sums one after another: n. Then a handful of
// operations, each one; and for the loss of all rows, their sum.
void workload(const Case& c, Workload& w) {
  if (is_none(c))
    std::erase_if(w.tensors,
                  [](const TensorSpec& t) { return t.name == "loss" || t.name == "dloss"; });
  const double rows = double(c.size("rows")), cols = double(c.size("cols"));
  const double bytes = rows * cols * double(size_of(c.dtype));
  const double exponential = is_exact(c) ? 4 : 3 * kSpan + 8, sum = is_exact(c) ? 0 : cols;
  w.cost.read = bytes;
  for (TensorSpec& t : w.tensors) {
    if (t.name == "losses" || t.name == "lse") t.arithmetic = exponential + sum + 8;
    if (t.name == "loss") t.arithmetic = exponential + sum + rows + 10;
    if (t.name != "dlogits") continue;
    w.cost.written = bytes;
    t.arithmetic = Op(c.op) == Op::backward ? exponential + 8 : 2 * exponential + sum + 8;
  }
}

// Each row shows one thing that can happen to exponentials.
double special(const Case& c, int64_t index, int64_t cols) {
  const int64_t r = index / cols, col = index % cols;
  const double plain = double(hash(c.seed, uint64_t(index)) % 17) - 8;
  switch (r % 8) {
    case 0: return col == cols - 1 ? NAN : plain;
    case 1: return col == cols / 2 ? -INFINITY : plain;
    case 2: return -INFINITY;
    case 3: return col % 3 == 0 ? plain : -INFINITY;  // a mask
    case 4: return 2.5;
    case 5: return col == 0 ? 8 : col == cols - 1 ? -6e4 : plain;
    case 6: return col % 2 || cols == 1 ? 0.0 : -6e4;
    default: return col % 2 ? -0.0 : 0.0;
  }
}

// The tensor of a workload: cases leave out different ones.
const std::string& name_of(const Case& c, size_t tensor) {
  for (const TensorDef& def : c.def->tensors) {
    if (def.on_request && !c.has(def.name)) continue;
    if (is_none(c) && (def.name == "loss" || def.name == "dloss")) continue;
    if (tensor-- == 0) return def.name;
  }
  return c.def->name;
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  const int64_t cols = std::max<int64_t>(c.size("cols"), 1);
  const std::string& name = name_of(c, tensor);
  const uint64_t noise = hash(c.seed * 16 + name.size(), uint64_t(index));
  if (name == "targets") {
    const bool padded = c.distribution == "padding";
    const bool by_chance = c.number("ignore_index") == 0;  // a column that some rows have
    if (padded && !by_chance && index % 5 == 3) return c.number("ignore_index");
    if (c.specials && index % 16 == 9) return index % 32 == 9 ? double(cols) : -1.0;
    return double(noise % uint64_t(cols));
  }
  if (name == "lse") return is_exact(c) ? 0 : 8 + unit(noise);
  if (name != "logits") return 2 * unit(noise) - 1;  // the gradients of the losses
  // Infinity is as large as logits can be. It makes its row NaN, as in PyTorch.
  if (is_far(c) && index / cols == 6 && index % cols == cols / 2) return INFINITY;
  if (is_far(c)) return (c.dtype == Dtype::f32 ? 1e4 : 200) + 16 * unit(noise) - 8;
  if (c.specials) return special(c, index, cols);
  if (!is_exact(c)) return 16 * unit(noise) - 8;
  const int64_t col = index % cols;
  const bool is_zero =
      col == 0 || col == cols - 1 || noise % uint64_t(std::max<int64_t>(2, cols / 32)) == 0;
  return is_zero ? 0 : -200;
}

// Different losses in turn; what is on request where there is nothing else.
std::vector<Case> in_turns(std::vector<Case> cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    Case& c = cases[i];
    const bool none = i % 3 == 2;
    if (i % 4 != 3) c.distribution = "padding";
    c.parameters.emplace_back("reduction", double(i % 3));
    if (i % 4 == 1) c.parameters.emplace_back("label_smoothing", 0.125);
    if (i % 7 == 5) c.parameters.emplace_back("ignore_index", 0);
    if (i % 5 < 2) c.formats = {{"targets", Dtype::i32}};
    if (Op(c.op) == Op::backward) {
      if (none) c.with = {"dlosses"};
      continue;
    }
    if (none || i % 2) c.with = {"losses"};
    if (Op(c.op) == Op::forward && i % 4 < 2) c.with.push_back("lse");
    if (Op(c.op) == Op::with_gradient && i % 4 == 2) c.parameters.emplace_back("scale", -3.5);
    if (Op(c.op) == Op::with_gradient && !none && i % 5 == 4) c.with.push_back("dloss");
  }
  return cases;
}

const std::vector<int> kAll = {int(Op::forward), int(Op::backward), int(Op::with_gradient)};

std::vector<Case> tests() {
  std::vector<Case> cases =
      crossed({.ops = kAll, .dtypes = kFloats, .shapes = {{1, 1}, {67, 3}, {33, 33}, {9, 256}}});
  append(cases, crossed({.ops = kAll, .shapes = {{0, 5}}}));
  // The widths at which rows get more threads, and threads more packs; one and several chunks.
  append(cases, crossed({.ops = kAll,
                         .dtypes = {Dtype::f32, Dtype::bf16},
                         .shapes = {{7, 130}, {5, 517}, {2, 1031}, {2, 2056}, {1, 4100}, {1, 8193}},
                         .misalignments = {0},
                         .specials = false}));
  append(cases, crossed({.ops = kAll,
                         .dtypes = {Dtype::f32, Dtype::bf16},
                         .shapes = {{8, 1031}},
                         .misalignments = {}}));
  append(cases, crossed({.ops = kAll,
                         .dtypes = {Dtype::f32, Dtype::f16},
                         .shapes = {{1, 33001}},
                         .misalignments = {1},
                         .specials = false}));
  append(cases, crossed({.ops = {int(Op::with_gradient)},  // about two whole SMs
                         .dtypes = {Dtype::bf16},
                         .shapes = {{1, 128256}},
                         .misalignments = {0},
                         .specials = false}));
  append(cases, crossed({.ops = {int(Op::with_gradient)},  // past the registers of a block
                         .dtypes = {Dtype::f32},
                         .shapes = {{1, 53003}},
                         .misalignments = {0},
                         .specials = false}));
  // Many rows, which the mean and the count go round for.
  append(cases,
         crossed({.ops = kAll, .shapes = {{2500, 3}}, .misalignments = {0}, .specials = false}));
  // Every tensor at another distance from its boundary, and its rows at another distance from each
  // other; and in place.
  for (const int op : kAll)
    for (const Dtype dtype : kFloats)
      for (const auto& shape : Shapes{{9, 31}, {3, 517}})
        cases.push_back({.op = op,
                         .dtype = dtype,
                         .shape = shape,
                         .seed = 1 + cases.size() % 2,
                         .skew = 1,
                         .padding = 3,
                         .padding_skew = op % 2});
  for (const int op : {int(Op::backward), int(Op::with_gradient)})
    append(cases, crossed({.ops = {op},
                           .dtypes = {Dtype::f32, Dtype::bf16},
                           .shapes = {{5, 64}, {6, 333}, {1, 9001}},
                           .misalignments = {1},
                           .specials = false,
                           .same = {{"dlogits", "logits"}}}));
  append(cases,
         crossed(
             {.ops = kAll, .shapes = {{33}, {2, 3, 31}}, .misalignments = {0}, .specials = false}));
  cases = in_turns(std::move(cases));
  // Numbers with which the first rung is wrong. Its gradient is, too, if it is all it can be.
  std::vector<Case> far = crossed({.ops = {int(Op::forward), int(Op::with_gradient)},
                                   .dtypes = kFloats,
                                   .shapes = {{5, 256}, {7, 300}, {2, 1031}, {1, 8192}},
                                   .misalignments = {0},
                                   .specials = false,
                                   .parameters = {{"label_smoothing", 0.125}},
                                   .distributions = {"large_logits"}});
  for (Case& c : far) c.with = {"losses"};
  append(cases, std::move(far));
  return cases;
}

std::vector<Case> timings() {
  const Shapes real = {{8192, 128256}, {16384, 32768}, {8192, 50257}, {4096, 262144},
                       {65536, 1000},  {32, 128256},   {1 << 20, 64}};
  std::vector<Case> cases;
  for (const int op : {int(Op::with_gradient), int(Op::forward), int(Op::backward)})
    for (const Dtype dtype : {Dtype::bf16, Dtype::f32})
      for (const auto& shape : real) {
        Case c = {.op = op, .dtype = dtype, .shape = shape};
        if (op == int(Op::with_gradient)) c.same = {{"dlogits", "logits"}};
        cases.push_back(std::move(c));
      }
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "cross entropy of logits and targets, forward, backward and both at once",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.op = int(Op::with_gradient), .dtype = Dtype::bf16, .shape = {256, 2048}},
          .input = input};
}

}  // namespace ridge::cross_entropy
