#include "ladder/cases.h"

#include "kernels/adamw/family.h"

namespace ridge::adamw {
namespace {

enum Op { kOne, kMany };

// Ends of the tensors that share the arrays of a case. Many: as uneven as a model's, with tiny ones
// and empty ones between large ones, and more than a table of the third rung holds.
std::vector<int64_t> ends_of(const Case& c) {
  const int64_t n = c.shape[0];
  if (c.op == kOne) return {n};
  constexpr int64_t kShares[] = {16, 1, 0, 23, 1, 5, 48, 0, 3, 11};  // and again, ten times
  constexpr int64_t kTurns = 10;
  int64_t turn = 0;
  for (const int64_t share : kShares) turn += share;
  std::vector<int64_t> ends;
  int64_t shares = 0;
  for (int64_t i = 0; i < kTurns * int64_t(std::size(kShares)); ++i) {
    shares += kShares[size_t(i) % std::size(kShares)];
    ends.push_back(int64_t(double(n) * double(shares) / double(turn * kTurns)));
  }
  ends.back() = n;
  return ends;
}

}  // namespace

Family::Family() : Erased(adamw::rungs()) {
  family = "adamw";
  summary = "one step of AdamW; bf16: weights with an f32 master";
  operators = {"adamw", "adamw_many"};
  dtypes = {Dtype::f32, Dtype::bf16};
  shape_help = "N; adamw_many: in a hundred tensors";
  tests = crossed(
      {.ops = {kOne}, .dtypes = dtypes, .shapes = vector_shapes(), .misalignments = {0, 1, 2}});
  append(tests,
         crossed({.ops = {kMany}, .dtypes = dtypes, .shapes = {{0}, {50}, {8192}, {40009}}}));
  timings = {{.dtype = Dtype::f32, .shape = {1 << 28}},
             {.dtype = Dtype::bf16, .shape = {1 << 28}},
             {.dtype = Dtype::f32, .shape = {1 << 24}},
             {.dtype = Dtype::f32, .shape = {100'000'007}},
             {.op = kMany, .dtype = Dtype::f32, .shape = {1 << 28}},
             {.op = kMany, .dtype = Dtype::bf16, .shape = {1 << 24}}};
  tour = {.op = kMany, .shape = {1 << 18}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 1); }

Workload Family::workload(const Case& c) const {
  const bool wide = c.dtype == Dtype::f32;
  // Roundings, those of the constants included: m has 3, v 4 (all of one sign); w those of m and
  // half of v's, the root, its scale, the sum, the quotient, the rate and the last sum.
  const TensorSpec weight = {.name = wide ? "weight" : "master",
                             .shape = c.shape,
                             .role = Role::inout,
                             .rounding = 1,
                             .arithmetic = 12};
  Workload w = {
      .tensors = {{.name = "grad", .dtype = c.dtype, .shape = {c.shape[0] + gradient_shift(c)}},
                  {.name = "m", .shape = c.shape, .role = Role::inout, .arithmetic = 3},
                  {.name = "v",
                   .shape = c.shape,
                   .role = Role::inout,
                   .fill = Fill::positive,
                   .arithmetic = 4},
                  weight},
      .cost = {.read = double(c.shape[0]) * double(12 + size_of(c.dtype)),
               .written = double(c.shape[0]) * (wide ? 12 : 14)}};
  if (!wide)
    w.tensors.push_back({.name = "weight",
                         .dtype = c.dtype,
                         .shape = c.shape,
                         .role = Role::out,
                         .rounding = 1,
                         .arithmetic = 13});
  return w;
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const bool wide = c.dtype == Dtype::f32;
  // Late and early steps: the corrections of the bias go from large to none.
  Args a = {
      .dtype = c.dtype, .lr = 3e-3, .weight_decay = 0.1, .step = int64_t(1 + c.seed % 5 * 100)};
  int64_t begin = 0;
  for (const int64_t end : ends_of(c)) {
    const auto at = [&](size_t tensor) { return static_cast<float*>(t[tensor]) + begin; };
    const auto narrow = [&](size_t tensor, int64_t shift) -> void* {
      return static_cast<char*>(t[tensor]) + (begin + shift) * int64_t(size_of(c.dtype));
    };
    a.parts.push_back({.weight = wide ? at(3) : narrow(4, 0),
                       .master = wide ? nullptr : at(3),
                       .grad = narrow(0, gradient_shift(c)),
                       .m = at(1),
                       .v = at(2),
                       .n = end - begin});
    begin = end;
  }
  return a;
}

}  // namespace ridge::adamw
