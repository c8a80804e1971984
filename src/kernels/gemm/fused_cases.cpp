#include "kernels/gemm/fused_cases.h"

#include <utility>

#include "kernels/gemm/gemm.h"
#include "ladder/cases.h"

namespace ridge::gemm {
namespace {

using Names = std::vector<std::string>;
using Parameters = std::vector<std::pair<std::string, double>>;
const Names kAll = {"bias", "row_scale", "col_scale", "amax"};

Parameters with(Activation f, double alpha = 1, double beta = 0) {
  Parameters parameters = {{"activation", double(f)}};
  if (alpha != 1) parameters.emplace_back("alpha", alpha);
  if (beta != 0) parameters.emplace_back("beta", beta);
  return parameters;
}

// In any format. Exact ones are compared bit for bit.
std::vector<Case> of_gemm_fused() {
  using enum Activation;
  const Names both = {"bias", "amax"};
  return {{.shape = {0, 5, 3}, .with = kAll, .parameters = with(relu)},
          {.shape = {5, 0, 3}, .with = kAll, .parameters = with(relu)},
          {.shape = {5, 7, 0}, .with = both, .parameters = with(gelu, 1, 0.5)},
          {.shape = {33, 36, 40}, .with = {"bias"}, .parameters = with(gelu)},
          {.shape = {70, 65, 31},
           .padding = 3,
           .exact = true,
           .with = kAll,
           .parameters = with(relu, 1.5, -0.5)},
          {.shape = {65, 70, 33},
           .misalignment = 1,
           .transposed = {"a", "b"},
           .with = both,
           .parameters = with(gelu_tanh)},
          {.shape = {3, 17, 19, 23},
           .padding = 1,
           .transposed = {"b"},
           .with = {"bias", "row_scale", "amax"},
           .parameters = with(silu)},
          {.shape = {2, 2, 36, 20, 12},
           .padding = 4,
           .padding_skew = 4,
           .exact = true,
           .transposed = {"c"},
           .with = {"bias", "col_scale"},
           .parameters = with(none, 1, 1)},
          {.shape = {40, 24, 32},
           .transposed = {"a"},
           .same = {{"d", "c"}},
           .with = {"bias"},
           .parameters = with(silu, 0.5, 1)},
          {.shape = {1, 257, 67}, .exact = true, .with = {"amax"}},
          {.shape = {129, 131, 17},
           .skew = 1,
           .with = {"row_scale", "col_scale"},
           .parameters = with(gelu)},
          {.shape = {31, 29, 18},
           .specials = true,
           .exact = true,
           .with = kAll,
           .parameters = with(relu, 1, -0.5)},
          {.shape = {31, 29, 18}, .specials = true, .with = both, .parameters = with(gelu)},
          {.shape = {31, 29, 18}, .specials = true, .with = both, .parameters = with(gelu_tanh)},
          {.shape = {31, 29, 18}, .specials = true, .with = both, .parameters = with(silu)}};
}

std::vector<Case> of_gemm_swiglu() {
  return {{.shape = {0, 5, 3}},
          {.shape = {5, 0, 3}},
          {.shape = {5, 7, 0}, .with = {"bias"}},
          {.shape = {33, 18, 40}, .with = {"bias"}},
          {.shape = {70, 33, 31}, .padding = 3, .parameters = {{"alpha", 1.5}}},
          {.shape = {65, 63, 33}, .misalignment = 1, .transposed = {"b"}, .with = {"bias"}},
          {.shape = {3, 17, 9, 23}, .padding = 1, .transposed = {"a"}, .with = {"bias"}},
          {.shape = {129, 1, 17}, .transposed = {"a", "b"}},
          {.shape = {31, 14, 18}, .specials = true, .with = {"bias"}}};
}

// Results in f32 of operands in 16 bits, and sizes that the copy engine can reach, around tiles of
// 64 by 256 and 128 by 256.
std::vector<Case> of_16_bits() {
  using enum Activation;
  const std::vector<std::pair<std::string, Dtype>> wide = {{"d", Dtype::f32}};
  std::vector<Case> cases = {
      {.shape = {33, 40, 48}, .with = kAll, .formats = wide, .parameters = with(silu, 1.5, -0.5)},
      {.shape = {136, 264, 72}, .with = {"bias"}, .parameters = with(gelu)},
      {.shape = {2, 136, 264, 72},
       .padding = 8,
       .padding_skew = 8,
       .exact = true,
       .transposed = {"b"},
       .with = kAll,
       .parameters = with(relu, 1.5, -0.5)},
      {.shape = {200, 304, 136},
       .transposed = {"a", "b"},
       .with = {"bias", "amax"},
       .formats = wide,
       .parameters = with(gelu)},
      {.shape = {72, 520, 40},
       .with = {"row_scale"},
       .formats = wide,
       .parameters = with(gelu_tanh, 1, 2)},
      {.shape = {136, 256, 64}, .same = {{"d", "c"}}, .parameters = with(none, 1, 1)},
      {.shape = {130, 304, 200},
       .specials = true,
       .transposed = {"a"},
       .with = {"bias", "amax"},
       .parameters = with(silu)}};
  for (Case& c : cases) c.op = kFused;
  std::vector<Case> gated = {
      {.shape = {136, 136, 72}, .with = {"bias"}},
      {.shape = {2, 136, 264, 72}, .padding = 8, .with = {"bias"}, .formats = wide},
      {.shape = {200, 152, 136}, .transposed = {"a", "b"}, .parameters = {{"alpha", 1.5}}},
      {.shape = {130, 152, 200}, .specials = true, .transposed = {"a"}, .with = {"bias"}}};
  for (Case& c : gated) c.op = kSwiglu;
  append(cases, gated);
  return cases;
}

}  // namespace

std::vector<Case> fused_tests() {
  std::vector<Case> cases;
  const auto add = [&](std::vector<Case> more, Dtype dtype) {
    for (Case& c : more) {
      c.dtype = dtype;
      c.seed = cases.size() + 1;
      cases.push_back(c);
    }
  };
  const auto of = [](int op, std::vector<Case> these) {
    for (Case& c : these) c.op = op;
    return these;
  };
  for (const Dtype dtype : kFloats) {
    add(of(kFused, of_gemm_fused()), dtype);
    add(of(kSwiglu, of_gemm_swiglu()), dtype);
    if (dtype != Dtype::f32) add(of_16_bits(), dtype);
  }
  return cases;
}

std::vector<Case> fused_timings() {
  using enum Activation;
  std::vector<Case> cases;
  // Of a product that has as many columns with each of them: swiglu makes half as many of d.
  for (const int64_t n : {4096, 14336}) {
    const std::vector<int64_t> shape = {4096, n, 4096};
    cases.push_back({.op = kFused,
                     .dtype = Dtype::bf16,
                     .shape = shape,
                     .with = {"bias"},
                     .parameters = with(gelu)});
    cases.push_back({.op = kFused, .dtype = Dtype::bf16, .shape = shape});
    cases.push_back(
        {.op = kFused, .dtype = Dtype::bf16, .shape = shape, .parameters = with(none, 1, 1)});
    cases.push_back({.op = kFused,
                     .dtype = Dtype::bf16,
                     .shape = shape,
                     .with = {"bias"},
                     .parameters = with(gelu_tanh)});
    cases.push_back({.op = kFused,
                     .dtype = Dtype::bf16,
                     .shape = shape,
                     .with = {"bias"},
                     .parameters = with(relu)});
    cases.push_back({.op = kFused, .dtype = Dtype::bf16, .shape = shape, .with = {"amax"}});
    cases.push_back({.op = kSwiglu, .dtype = Dtype::bf16, .shape = {4096, n / 2, 4096}});
  }
  cases.push_back({.op = kFused,
                   .dtype = Dtype::f32,
                   .shape = {4096, 4096, 4096},
                   .with = {"bias"},
                   .parameters = with(gelu)});
  cases.push_back({.op = kSwiglu, .dtype = Dtype::f32, .shape = {4096, 2048, 4096}});
  bool known[] = {false, false, false};  // of each operator, all rungs climb the first case only
  for (Case& c : cases) c.library_only = std::exchange(known[c.op], true);
  return cases;
}

}  // namespace ridge::gemm
