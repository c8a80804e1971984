#include "ladder/cases.h"

#include <cmath>

#include "kernels/embedding/family.h"

namespace ridge::embedding {
namespace {

enum Op { kForward, kBackward };

}  // namespace

Family::Family() : Erased(embedding::rungs()) {
  family = "embedding";
  summary = "rows of a table by token; backward: gradients added to the rows they came from";
  operators = {"embedding", "embedding_bwd"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "TOKENSxVOCABULARYxDIM";
  tests = crossed({.ops = {kForward},
                   .dtypes = dtypes,
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
  append(tests, crossed({.ops = {kBackward},
                         .dtypes = dtypes,
                         .shapes = {{0, 10, 8},
                                    {1, 1, 1},
                                    {31, 3, 8},
                                    {33, 1000, 31},
                                    {64, 2, 64},
                                    {1000, 257, 24},
                                    {2049, 70000, 5}},
                         .padding = {0, 3}}));
  timings = {{.dtype = Dtype::bf16, .shape = {32768, 128256, 4096}},
             {.dtype = Dtype::f32, .shape = {32768, 50257, 1600}},
             {.dtype = Dtype::bf16, .shape = {65536, 50257, 769}},
             {.op = kBackward, .dtype = Dtype::bf16, .shape = {32768, 128256, 4096}},
             {.op = kBackward, .dtype = Dtype::f32, .shape = {32768, 50257, 1600}},
             {.op = kBackward, .dtype = Dtype::bf16, .shape = {65536, 257, 1024}}};
  tour = {.op = kBackward, .dtype = Dtype::bf16, .shape = {1024, 1000, 256}};
}

Status Family::check(const Case& c) const {
  if (const Status s = check_case(*this, c, 3); !s) return s;
  if (c.shape[0] > 0 && c.shape[1] == 0) return Error{2, "tokens need a vocabulary"};
  if (c.shape[1] >= int64_t(1) << 31) return Error{2, "tokens are i32"};
  return Status::ok();
}

Workload Family::workload(const Case& c) const {
  const int64_t n = c.shape[0], vocab = c.shape[1], dim = c.shape[2];
  const double row = double(dim) * double(size_of(c.dtype));
  const TensorSpec tokens = {
      .name = "tokens", .dtype = Dtype::i32, .shape = {n}, .fill = Fill::index, .limit = vocab};
  if (c.op == kForward)
    return {.tensors = {tokens,
                        {.name = "table", .dtype = c.dtype, .shape = {vocab, dim}},
                        {.name = "out",
                         .dtype = c.dtype,
                         .shape = {n, dim},
                         .role = Role::out,
                         .rounding = 0,
                         .arithmetic = 0}},  // a copy
            .cost = {.read = double(n) * (row + 4), .written = double(n) * row}};
  // Rows that are hit at all, of tokens drawn evenly; each is read and written once.
  const double v = double(vocab), hit = v > 0 ? v * -std::expm1(double(n) * std::log1p(-1 / v)) : 0;
  const double table = (vocab == 1 ? 1 : hit) * double(dim) * sizeof(float);
  return {.tensors = {tokens,
                      {.name = "dy", .dtype = c.dtype, .shape = {n, dim}},
                      {.name = "dtable",
                       .shape = {vocab, dim},
                       .role = Role::inout,
                       .rounding = 1,
                       .arithmetic = 0}},  // reference.cpp counts the sums' terms
          .cost = {.read = double(n) * (row + 4) + table, .written = table}};
}

// In half of the backward tests a third of the tokens are one and the same, as padding is.
std::optional<double> Family::input(const Case& c, size_t tensor, int64_t index) const {
  if (tensor != 0 || c.op != kBackward || c.seed % 2 != 0 || index % 3 != 0) return std::nullopt;
  return double(c.shape[1] / 2);
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const bool backward = c.op == kBackward;
  return {.backward = backward,
          .tokens = static_cast<const int32_t*>(t[0]),
          .table = backward ? nullptr : t[1],
          .out = backward ? nullptr : t[2],
          .dy = backward ? t[1] : nullptr,
          .dtable = backward ? static_cast<float*>(t[2]) : nullptr,
          .count = c.shape[0],
          .vocab = c.shape[1],
          .dim = c.shape[2],
          .table_stride = c.shape[2] + c.padding,
          .row_stride = c.shape[2] + c.padding,
          .dtype = c.dtype};
}

}  // namespace ridge::embedding
