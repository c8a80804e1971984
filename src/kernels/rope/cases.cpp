#include "ladder/cases.h"

#include "kernels/rope/angle.h"
#include "kernels/rope/rope.h"
#include "ladder/family.h"

namespace ridge::rope {
namespace {

enum Op { kForward, kBackward };

Status check(const Case& c) {
  if (c.size("dim") % 2 != 0)
    return Error{2, "heads are made of pairs: " + shape_text(c.shape) + " has an odd DIM"};
  const int64_t last = c.integer("first_position") + c.size("seq");
  if (c.size("positions") < last)
    return Error{2, "a table of " + std::to_string(c.size("positions")) +
                        " positions does not reach position " + std::to_string(last - 1)};
  return Status::ok();
}

void workload(const Case& c, Workload& w) {
  for (const size_t t : {kQOut, kKOut}) w.tensors[t].arithmetic = 0;  // all is in the magnitude
  w["sin"].strides = w["cos"].strides;  // the two are alike, whatever the padding
  w["sin"].span = w["cos"].span;
  const double dim = double(c.size("dim")), seq = double(c.size("seq"));
  const double heads = double(c.size("heads") + c.size("kv_heads"));
  const double moved = double(c.size("batch")) * seq * heads * dim * double(size_of(c.dtype));
  w.cost = {.read = moved + seq * dim * sizeof(float), .written = moved};
}

std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (tensor != kCos && tensor != kSin) return std::nullopt;
  const int64_t dim = c.size("dim"), pairs = dim / 2;
  const double turn = angle(index / pairs, index % pairs, dim, c.number("base"));
  return tensor == kCos ? std::cos(turn) : std::sin(turn);
}

std::vector<Case> tests() {
  std::vector<Case> cases;
  for (const double interleaved : {0, 1}) {
    const auto with = [&](double first, double base = 10000) {
      return std::vector<std::pair<std::string, double>>{
          {"interleaved", interleaved}, {"first_position", first}, {"base", base}};
    };
    append(cases, crossed({.dtypes = kFloats,
                           .shapes = {{0, 3, 2, 8},
                                      {2, 0, 2, 8},
                                      {1, 1, 1, 2},
                                      {2, 3, 5, 6},
                                      {1, 7, 4, 16},
                                      {2, 5, 9, 64},
                                      {1, 33, 3, 20},
                                      {1, 13, 8, 128}},
                           .padding = {0, 3},
                           .parameters = with(5)}));
    // Prompts start at 0. Heads of keys: none, as many, more. A table that is longer than needed.
    append(cases, crossed({.dtypes = kFloats,
                           .shapes = {{2, 3, 5, 6},
                                      {1, 7, 4, 16, 0},
                                      {1, 7, 4, 16, 4},
                                      {2, 3, 0, 16, 2},
                                      {2, 5, 2, 64, 3, 11}},
                           .parameters = with(0)}));
    append(cases, crossed({.dtypes = kFloats,
                           .shapes = {{1, 33, 3, 20}, {1, 13, 8, 128}},
                           .parameters = with(1000, 500000)}));
    append(cases, crossed({.ops = {kBackward},
                           .dtypes = kFloats,
                           .shapes = {{2, 3, 5, 6}, {2, 5, 9, 64}},
                           .misalignments = {0},
                           .padding = {0, 8},
                           .parameters = with(10)}));
    for (const Dtype dtype : kFloats) {  // tensors at different places of a pack
      Case c = {.op = kBackward, .dtype = dtype, .shape = {2, 5, 9, 64}, .parameters = with(3)};
      c.skew = 1;
      cases.push_back(c);
      c.skew = 0, c.padding_skew = 1;
      cases.push_back(c);
      c.padding_skew = 0, c.shape = {2, 3, 5, 9, 64, 3, 8};  // two dimensions of batches
      cases.push_back(c);
    }
  }
  return cases;
}

std::vector<Case> timings() {
  return {{.dtype = Dtype::bf16, .shape = {4, 4096, 32, 128}},
          {.dtype = Dtype::f32, .shape = {4, 4096, 32, 128}},
          {.dtype = Dtype::bf16, .shape = {64, 1, 32, 128}},
          {.dtype = Dtype::bf16, .shape = {3, 4097, 24, 80}},
          {.dtype = Dtype::bf16, .shape = {4, 4096, 32, 128}, .parameters = {{"interleaved", 1}}},
          {.op = kBackward, .dtype = Dtype::bf16, .shape = {4, 4096, 32, 128}}};
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "queries and keys turned by their position, pair by pair",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.dtype = Dtype::bf16, .shape = {1, 128, 16, 128}},
          .input = input,
          .check = check};
}

}  // namespace ridge::rope
