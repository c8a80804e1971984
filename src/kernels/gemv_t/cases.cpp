#include "ladder/cases.h"

#include <cmath>
#include <limits>

#include "kernels/gemv_t/family.h"

namespace ridge::gemv_t {
namespace {

enum Op { kProduct, kUpdate };
enum Tensor { kA, kX, kY };

// Even seeds give small whole numbers, whose sums are exact in any order: then every bit must be
// right, and one element too many or too few cannot hide in a tolerance.
bool is_exact(const Case& c) { return c.seed % 2 == 0; }

}  // namespace

Family::Family() : Erased(gemv_t::rungs()) {
  family = "gemv_t";
  summary = "y = alpha transpose(A) x + beta y";
  operators = {"gemv_t", "gemv_t_update"};
  dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};
  shape_help = "ROWSxCOLUMNS";
  // Around a pack, and the widths at which lanes a row change; rows around a block's share, and
  // around a step of it.
  tests = crossed({.ops = {kProduct},
                   .dtypes = dtypes,
                   .shapes = {{5, 0},
                              {0, 5},
                              {1, 1},
                              {7, 3},
                              {259, 9},
                              {127, 67},
                              {31, 256},
                              {33, 511},
                              {1031, 17},
                              {70, 1040},
                              {1, 21},
                              {47, 505},
                              {97, 513}},
                   .padding = {0, 3}});
  append(tests, crossed({.ops = {kUpdate},
                         .dtypes = dtypes,
                         .shapes = {{0, 4}, {31, 33}, {300, 72}},
                         .padding = {0, 8}}));
  append(tests, crossed({.ops = {kProduct},  // many slices
                         .dtypes = dtypes,
                         .shapes = {{20011, 8}, {4099, 24}, {2311, 509}, {1201, 1016}},
                         .specials = false}));
  tests.push_back({.shape = {131, 68001}, .seed = 2});  // tiles for all SMs, and slices of them
  const Shapes real = {{16384, 16384}, {4096, 4096},   {8192, 28672}, {28672, 8192}, {1024, 131072},
                       {131072, 1024}, {16383, 16383}, {16, 1 << 20}, {1 << 20, 64}};
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
    for (const auto& shape : real) timings.push_back({.dtype = dtype, .shape = shape});
  timings.push_back({.dtype = Dtype::f16, .shape = {16384, 16384}});
  tour = {.shape = {1024, 1024}};
}

Status Family::check(const Case& c) const { return check_case(*this, c, 2); }

Workload Family::workload(const Case& c) const {
  const Args args = bind(c, std::vector<void*>(3));
  const Fill fill = is_exact(c) ? Fill::small_ints : Fill::uniform;
  // Summed one after another, a sum of n products is rounded n times, each time by at most a
  // roundoff of what the magnitudes add up to; then alpha, beta and their sum. Products are not
  // rounded before they are added.
  const double arithmetic = is_exact(c) ? 0 : double(args.rows) + 3;
  return {.tensors = {{.name = "A", .dtype = c.dtype, .shape = c.shape, .fill = fill},
                      {.name = "x", .dtype = c.dtype, .shape = {args.rows}, .fill = fill},
                      {.name = "y",
                       .dtype = c.dtype,
                       .shape = {args.cols},
                       .role = args.beta != 0 ? Role::inout : Role::out,
                       .fill = fill,
                       .rounding = is_exact(c) ? 0.0 : 1.0,
                       .arithmetic = arithmetic}},
          .cost = {.read = gemv_t::bytes_read(args),
                   .written = gemv_t::bytes_written(args),
                   .flops = gemv::flops(args)}};
}

// Specials stand in a few columns of A only: in x, one NaN would leave nothing else to see.
std::optional<double> Family::input(const Case& c, size_t tensor, int64_t index) const {
  if (!c.specials) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int64_t cols = std::max<int64_t>(c.shape[1], 1);
  const int64_t row = index / cols, col = index % cols, rows = c.shape[0];
  if (tensor != kA) return double(index % 3) - (tensor == kX ? 1 : 0);  // x has zeros
  const double plain = double((row * 5 + col * 3) % 7) - 3;
  switch (col % 6) {
    case 1: return row == rows - 1 ? NAN : plain;
    case 2: return row == 0 ? kInfinity : plain;
    case 3: return row == rows / 2 ? -kInfinity : plain;
    case 4: return row == 0 ? kInfinity : row == rows - 1 ? -kInfinity : plain;
    default: return plain;
  }
}

Args Family::bind(const Case& c, std::span<void* const> t) {
  return {.a = t[kA],
          .x = t[kX],
          .y = t[kY],
          .rows = c.shape[0],
          .cols = c.shape[1],
          .a_stride = c.shape[1] + c.padding,
          .alpha = c.op == kUpdate ? 1.5f : 1.0f,
          .beta = c.op == kUpdate ? -0.5f : 0.0f,
          .dtype = c.dtype};
}

}  // namespace ridge::gemv_t
