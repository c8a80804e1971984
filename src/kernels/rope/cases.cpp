#include "ladder/cases.h"

#include <cmath>

#include "kernels/rope/family.h"

namespace ridge::rope {
namespace {

enum Tensor : size_t { kQ, kK, kCos, kSin, kQOut, kKOut };

}  // namespace

Family::Family() : Erased(rope::rungs()) {
  family = "rope";
  summary = "queries and keys turned by their position, pair by pair";
  operators = {"rope", "rope_interleaved", "rope_bwd", "rope_interleaved_bwd"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "BATCHxSEQUENCExHEADSxDIM, DIM even; a quarter as many heads of keys";
  tests = crossed({.ops = {0, kInterleaved},
                   .dtypes = dtypes,
                   .shapes = {{0, 3, 2, 8},
                              {2, 0, 2, 8},
                              {1, 1, 1, 2},
                              {2, 3, 5, 6},
                              {1, 7, 4, 16},
                              {2, 5, 9, 64},
                              {1, 33, 3, 20},
                              {1, 13, 8, 128}},
                   .padding = {0, 3}});
  append(tests, crossed({.ops = {kBackward, kBackward | kInterleaved},
                         .dtypes = dtypes,
                         .shapes = {{2, 3, 5, 6}, {2, 5, 9, 64}},
                         .misalignments = {0},
                         .padding = {0, 8}}));
  timings = {{.dtype = Dtype::bf16, .shape = {4, 4096, 32, 128}},
             {.dtype = Dtype::f32, .shape = {4, 4096, 32, 128}},
             {.dtype = Dtype::bf16, .shape = {64, 1, 32, 128}},
             {.dtype = Dtype::bf16, .shape = {3, 4097, 24, 80}},
             {.op = kInterleaved, .dtype = Dtype::bf16, .shape = {4, 4096, 32, 128}},
             {.op = kBackward, .dtype = Dtype::bf16, .shape = {4, 4096, 32, 128}}};
  tour = {.dtype = Dtype::bf16, .shape = {1, 128, 16, 128}};
}

Status Family::check(const Case& c) const {
  if (const Status s = check_case(*this, c, 4); !s) return s;
  if (c.shape[3] % 2 != 0)
    return Error{2, "heads are made of pairs: " + shape_text(c.shape) + " has an odd DIM"};
  return Status::ok();
}

Workload Family::workload(const Case& c) const {
  const int64_t b = c.shape[0], s = c.shape[1], d = c.shape[3];
  const std::vector<int64_t> keys = {b, s, key_heads(c), d};
  const std::vector<int64_t> table = {first_position(c) + s, d / 2};
  const bool backward = c.op & kBackward;
  const double moved = double(count(c.shape) + count(keys)) * double(size_of(c.dtype));
  // reference.cpp puts everything into the magnitude.
  const auto out = [&](const char* name, const std::vector<int64_t>& shape) -> TensorSpec {
    return {.name = name,
            .dtype = c.dtype,
            .shape = shape,
            .role = Role::out,
            .rounding = 1,
            .arithmetic = 0};
  };
  return {.tensors = {{.name = backward ? "dq_turned" : "q", .dtype = c.dtype, .shape = c.shape},
                      {.name = backward ? "dk_turned" : "k", .dtype = c.dtype, .shape = keys},
                      {.name = "cos", .shape = table},
                      {.name = "sin", .shape = table},
                      out(backward ? "dq" : "q_turned", c.shape),
                      out(backward ? "dk" : "k_turned", keys)},
          .cost = {.read = moved + double(s) * double(d) * sizeof(float), .written = moved}};
}

std::optional<double> Family::input(const Case& c, size_t tensor, int64_t index) const {
  if (tensor != kCos && tensor != kSin) return std::nullopt;
  const int64_t pairs = c.shape[3] / 2;
  const double turn = angle(index / pairs, index % pairs, c.shape[3]);
  return tensor == kCos ? std::cos(turn) : std::sin(turn);
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  const int64_t seq = c.shape[1], dim = c.shape[3], row = dim + c.padding;
  const auto heads = [&](void* in, void* out, int64_t count) -> Heads {
    const Strides s = {.batch = seq * count * row, .seq = count * row, .head = row};
    return {.in = in, .out = out, .heads = count, .in_stride = s, .out_stride = s};
  };
  return {.q = heads(t[kQ], t[kQOut], c.shape[2]),
          .k = heads(t[kK], t[kKOut], key_heads(c)),
          .cos = static_cast<const float*>(t[kCos]),
          .sin = static_cast<const float*>(t[kSin]),
          .table_stride = dim / 2 + c.padding,
          .batch = c.shape[0],
          .seq = seq,
          .dim = dim,
          .first_position = first_position(c),
          .interleaved = bool(c.op & kInterleaved),
          .backward = bool(c.op & kBackward),
          .dtype = c.dtype};
}

}  // namespace ridge::rope
