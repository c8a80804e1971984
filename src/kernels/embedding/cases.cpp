#include "ladder/cases.h"

#include <cmath>

#include "kernels/embedding/embedding.h"
#include "ladder/family.h"

namespace ridge::embedding {
namespace {

enum { kForward, kBackward };  // operators.cpp
constexpr size_t kTokens = 0;

void workload(const Case& c, Workload& w) {
  const double n = double(c.size("tokens")), vocab = double(c.size("vocab")),
               dim = double(c.size("dim"));
  const double row = dim * double(size_of(c.dtype));
  w["tokens"].fill = Fill::index;
  w["tokens"].limit = c.size("vocab");
  if (c.op == kForward) {
    w["out"].rounding = w["out"].arithmetic = 0;  // a copy
    w.cost = {.read = n * (row + 4), .written = n * row};
    return;
  }
  w["dtable"].arithmetic = 0;  // reference.cpp counts the sums' terms
  // Rows that are hit at all, of tokens drawn evenly; each is read and written once.
  const double drawn = c.is_distributed("padding") ? n * 2 / 3 : n;
  const double hit = vocab > 1 ? vocab * -std::expm1(drawn * std::log1p(-1 / vocab)) : vocab;
  const double table = hit * dim * sizeof(float);
  w.cost = {.read = n * (row + 4) + table, .written = table};
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor != kTokens || !c.is_distributed("padding") || index % 3 != 0) return std::nullopt;
  return double(c.size("vocab") / 2);
}

std::vector<Case> tests() {
  std::vector<Case> cases = crossed({.ops = {kForward},
                                     .dtypes = kFloats,
                                     .shapes = {{0, 10, 8},
                                                {5, 10, 0},
                                                {1, 1, 1},
                                                {7, 3, 8},
                                                {33, 1000, 31},
                                                {64, 50, 64},
                                                {101, 70000, 9},
                                                {37, 17, 1031}},
                                     .padding = {0, 3}});
  // Around a chunk of 32 rows, and around a tile of 2048; digits of one, two and three passes.
  append(cases, crossed({.ops = {kBackward},
                         .dtypes = kFloats,
                         .shapes = {{0, 10, 8},
                                    {1, 1, 1},
                                    {31, 3, 8},
                                    {33, 1000, 31},
                                    {64, 2, 64},
                                    {1000, 257, 24},
                                    {2049, 70000, 5}},
                         .padding = {0, 3},
                         .distributions = {"", "padding"}}));
  // Tokens in rows with gaps, which take a launch each; tables and rows with gaps of their own.
  for (const int op : {kForward, kBackward})
    for (const Dtype dtype : kFloats)
      cases.push_back({.op = op,
                       .dtype = dtype,
                       .shape = {3, 25, 40, 24},
                       .seed = cases.size() + 1,
                       .misalignment = 1,
                       .skew = 1,
                       .padding = 1,
                       .padding_skew = 2,
                       .distribution = "padding"});
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::bf16, .shape = {32768, 128256, 4096}},
          {.dtype = Dtype::f32, .shape = {32768, 50257, 1600}},
          {.dtype = Dtype::bf16, .shape = {65536, 50257, 769}},
          {.op = kBackward, .dtype = Dtype::bf16, .shape = {32768, 128256, 4096}},
          {.op = kBackward, .dtype = Dtype::f32, .shape = {32768, 50257, 1600}},
          {.op = kBackward, .dtype = Dtype::bf16, .shape = {65536, 257, 1024}}};
}

Status check(const Case& c) {
  if (c.size("tokens") > 0 && c.size("vocab") == 0) return Error{2, "tokens need a vocabulary"};
  if (c.size("vocab") >= int64_t(1) << 31) return Error{2, "tokens are i32"};
  return Status::ok();
}

}  // namespace

FamilyOf<Args> family() {
  return {
      .summary = "rows of a table by token; backward: gradients added to the rows they came from",
      .workload = workload,
      .tests = tests,
      .timings = timings,
      .tour = {.op = kBackward, .dtype = Dtype::bf16, .shape = {1024, 1000, 256}},
      .input = input,
      .check = check};
}

}  // namespace ridge::embedding
