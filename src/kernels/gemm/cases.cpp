#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/gemm/gemm.h"
#include "ladder/cases.h"
#include "ladder/family.h"
#include "ladder/product.h"

namespace ridge::gemm {
namespace {

enum : size_t { kA, kB, kD, kC };  // tensors

// One product of the batch.
Product product_of(const Case& c, int64_t batch) {
  const int64_t m = c.size("m"), n = c.size("n"), k = c.size("k");
  const auto in = [&](size_t tensor, int64_t rows, int64_t cols) -> MatrixIn {
    return {.tensor = tensor, .row_step = cols, .col_step = 1, .first = batch * rows * cols};
  };
  Product product = {.m = m,
                     .n = n,
                     .k = k,
                     .a = in(kA, m, k),
                     .b = in(kB, k, n),
                     .out = in(kD, m, n),
                     .alpha = c.number("alpha"),
                     .beta = c.number("beta")};
  if (product.beta != 0) product.c = in(kC, m, n);
  return product;
}

std::optional<Truth> truth_at(const Case& c, const Elements& inputs, size_t, int64_t index) {
  const int64_t m = c.size("m"), n = c.size("n");
  return product_truth(product_of(c, index / (m * n)), inputs, index / n % m, index % n);
}

Proof proof(const Case& c, const Elements& inputs) {
  std::vector<Proof> all;
  for (int64_t batch = 0; batch < c.size("batch"); ++batch)
    all.push_back(product_proof(product_of(c, batch), inputs, c.seed + uint64_t(batch)));
  if (std::any_of(all.begin(), all.end(), [](const Proof& p) { return !p; })) return {};
  return [all](const Elements& results) {
    std::string complaint;
    for (size_t i = 0; i < all.size() && complaint.empty(); ++i) complaint = all[i](results);
    return complaint;
  };
}

// With beta = 0, c is left out, except among specials: there it is full of NaN that nobody may
// read.
bool has_c(const Case& c) { return c.number("beta") != 0 || c.specials; }

void workload(const Case& c, Workload& w) {
  const double batch = double(c.size("batch")), m = double(c.size("m")), n = double(c.size("n")),
               k = double(c.size("k"));
  const double size = double(size_of(w["a"].dtype)), result = double(size_of(w["d"].dtype));
  if (!has_c(c)) w.tensors.pop_back();
  // As for gemv: one rounding for each product that is added, then alpha, beta and their sum. The
  // tensor cores stay within it: they add 16 products and the sum so far with an error of at most
  // 17 * 2^-25 times the largest of them, and cut off the result by at most 2^-23.
  w["d"].arithmetic = k + 3;
  if (c.exact && c.specials) w["d"].rounding = w["d"].arithmetic = 0;
  else if (c.exact) (void)fill_exactly(w, product_of(c, 0));
  w.cost = {.read = batch * ((m * k + k * n) * size + (c.number("beta") != 0 ? m * n * result : 0)),
            .written = batch * m * n * result,
            .flops = 2 * batch * m * n * k,
            .arithmetic = size == 2 ? Arithmetic::tensor_f16 : Arithmetic::f32,
            .one_truth = 2 * k};
}

// Specials stand in the sums of a few results only.
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (!c.specials) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (tensor == kC) return c.number("beta") == 0 ? NAN : double(index % 5) - 2;
  if (tensor != kA) return double(index % 3) - 1;  // b has zeros
  const int64_t k = std::max<int64_t>(c.size("k"), 1), row = index / k, at = index % k;
  const double plain = double((row * 5 + at * 3) % 7) - 3;
  switch (row % 6) {
    case 1: return at == k - 1 ? NAN : plain;
    case 2: return at == 0 ? kInfinity : plain;
    case 3: return at == k / 2 ? -kInfinity : plain;
    case 4: return at == 0 ? kInfinity : at == k - 1 ? -kInfinity : plain;
    default: return plain;
  }
}

Status check(const Case& c) {
  const Dtype from = c.format("a"), to = c.format("d");
  if (to == from || to == Dtype::f32) return Status::ok();
  return Error{2, std::string("d cannot be ") + name_of(to) + " where a is " + name_of(from) +
                      "; it can be f32, or have the format of a"};
}

// --- Tests ---

using Names = std::vector<std::string>;
const std::vector<Names> kTransposes = {{}, {"a"}, {"b"}, {"a", "b"}};

// Around the tiles of the rungs (32, 64, 128, and 8, 16 or 32 deep), in every transposition.
std::vector<Case> sizes(Dtype dtype, const Shapes& shapes, int misalignment = 1) {
  std::vector<Case> cases;
  for (const auto& shape : shapes)
    for (const Names& transposed : kTransposes)
      cases.push_back({.dtype = dtype,
                       .shape = shape,
                       .misalignment = int(cases.size() / 2 % 2) * misalignment,
                       .transposed = transposed});
  return cases;
}

// What a call may ask for beside sizes.
std::vector<Case> demands(Dtype dtype) {
  const std::vector<std::pair<std::string, double>> both = {{"alpha", 1.5}, {"beta", -0.5}};
  std::vector<Case> cases = {
      {.shape = {0, 5, 3}},
      {.shape = {5, 0, 3}},
      {.shape = {5, 7, 0}},
      {.shape = {5, 7, 0}, .parameters = both},
      {.shape = {33, 36, 40}, .parameters = both},
      {.shape = {70, 65, 31}, .padding = 3, .parameters = both},
      {.shape = {36, 40, 44},
       .padding = 4,
       .padding_skew = 4,
       .transposed = {"a", "c"},
       .parameters = both},
      {.shape = {19, 35, 21}, .transposed = {"d"}, .parameters = both},
      {.shape = {40, 24, 32}, .transposed = {"a", "c", "d"}, .parameters = both},
      {.shape = {40, 24, 32}, .transposed = {"b"}, .same = {{"d", "c"}}, .parameters = both},
      {.shape = {20, 33, 17}, .skew = 1, .parameters = {{"alpha", 0}, {"beta", 1}}},
      {.shape = {3, 17, 19, 23}, .padding = 1, .parameters = both},
      {.shape = {2, 2, 36, 20, 12}, .transposed = {"b"}},
      {.shape = {1, 1, 70}, .step = 2},
      {.shape = {70, 1, 1}, .step = 2},
      {.shape = {1, 70, 1}, .step = 2},
      {.shape = {31, 29, 18}, .specials = true},
      {.shape = {31, 29, 18}, .specials = true, .transposed = {"a", "b"}, .parameters = both}};
  for (Case& c : cases) c.dtype = dtype;
  return cases;
}

std::vector<Case> tests() {
  std::vector<Case> cases = demands(Dtype::f32);
  append(cases, sizes(Dtype::f32, {{1, 1, 1},
                                   {3, 5, 7},
                                   {31, 33, 32},
                                   {64, 64, 33},
                                   {65, 63, 8},
                                   {128, 128, 16},
                                   {129, 131, 17},
                                   {132, 260, 36},
                                   {1, 257, 67},
                                   {257, 1, 67}}));
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    append(cases, demands(dtype));
    append(cases, sizes(dtype, {{3, 5, 7}, {65, 63, 33}}));
    // What the copy engine can reach, around tiles of 64 by 256, 128 by 256, 64 deep.
    constexpr int kAligned = 8;                                 // elements: 16 bytes
    append(cases, sizes(dtype, {{32, 48, 64}}, 2 * kAligned));  // whole fragments of wmma
    append(cases, {{.dtype = dtype,
                    .shape = {2, 32, 48, 16},
                    .formats = {{"d", Dtype::f32}},
                    .parameters = {{"alpha", 1.5}, {"beta", -0.5}}}});
    append(cases,
           sizes(dtype, {{8, 8, 8}, {48, 80, 96}, {72, 264, 72}, {136, 256, 328}}, kAligned));
    append(cases,
           {{.dtype = dtype, .shape = {3, 72, 40, 24}, .padding = 8},
            {.dtype = dtype,
             .shape = {2, 136, 264, 72},
             .padding = 8,
             .padding_skew = 8,
             .transposed = {"b"},
             .parameters = {{"alpha", 1.5}, {"beta", -0.5}}},
            {.dtype = dtype, .shape = {130, 300, 200}, .specials = true, .transposed = {"a"}},
            {.dtype = dtype,
             .shape = {200, 304, 136},
             .transposed = {"a", "b"},
             .formats = {{"d", Dtype::f32}}}});
    Case wide = {.dtype = dtype, .shape = {33, 40, 48}, .formats = {{"d", Dtype::f32}}};
    cases.push_back(wide);
    wide.parameters = {{"alpha", 1.5}, {"beta", -0.5}};
    cases.push_back(wide);
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].seed = i + 1;
    cases[i].exact = i / 4 % 2 == 0;
  }
  return cases;
}

std::vector<Case> timings() {
  std::vector<Case> cases;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    for (const int64_t n : {4096, 1024, 2048, 8192})
      cases.push_back({.dtype = dtype, .shape = {n, n, n}});
    cases.push_back({.dtype = dtype, .shape = {4096, 14336, 4096}});
    cases.push_back({.dtype = dtype, .shape = {2039, 3001, 1999}});  // primes
    for (const Names& transposed : kTransposes)
      if (!transposed.empty())
        cases.push_back({.dtype = dtype, .shape = {4096, 4096, 4096}, .transposed = transposed});
    cases.push_back({.dtype = dtype, .shape = {32, 1024, 1024, 1024}});
    cases.push_back({.dtype = dtype, .shape = {512, 128, 128, 128}});
  }
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "d = alpha a b + beta c, batched, any layout",
          .unit = "TFLOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {256, 256, 256}},
          .input = input,
          .truth_at = truth_at,
          .proof = proof,
          .check = check};
}

}  // namespace ridge::gemm
