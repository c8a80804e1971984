#include <algorithm>
#include <cmath>
#include <limits>

#include "core/number.h"
#include "kernels/gemm/fused_cases.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/truth.h"
#include "ladder/cases.h"
#include "ladder/family.h"
#include "ladder/product.h"

namespace ridge::gemm {
namespace {

enum : size_t { kA, kB, kD };  // tensors; the others are optional

// Where a tensor of a case is among those that the case has, in the order of the description.
struct Places {
  static constexpr size_t kNowhere = size_t(-1);
  size_t bias = kNowhere, row_scale = kNowhere, col_scale = kNowhere, c = kNowhere, amax = kNowhere;

  explicit Places(const Case& of) {
    size_t next = kD + 1;
    if (of.has("bias")) bias = next++;
    if (of.has("row_scale")) row_scale = next++;
    if (of.has("col_scale")) col_scale = next++;
    if (has_c(of)) c = next++;
    if (of.has("amax")) amax = next++;
  }
  // With beta = 0, c is left out, except among specials: there it is full of NaN that nobody may
  // read.
  static bool has_c(const Case& of) {
    return of.op != kSwiglu && (of.number("beta") != 0 || of.specials);
  }
};

bool may_round(const Case& c) {
  return c.op == kGemm && c.format("a") == Dtype::f32 && c.integer("precision") == kTf32;
}

int64_t columns_of_b(const Case& c) { return (c.op == kSwiglu ? 2 : 1) * c.size("n"); }

// One product of the batch.
Product product_of(const Case& c, int64_t batch) {
  const int64_t m = c.size("m"), n = columns_of_b(c), k = c.size("k");
  const auto in = [&](size_t tensor, int64_t rows, int64_t cols) -> MatrixIn {
    return {.tensor = tensor, .row_step = cols, .col_step = 1, .first = batch * rows * cols};
  };
  Product product = {.m = m,
                     .n = n,
                     .k = k,
                     .a = in(kA, m, k),
                     .b = in(kB, k, n),
                     .out = in(kD, m, c.size("n")),
                     .alpha = c.number("alpha"),
                     .beta = c.op == kSwiglu ? 0 : c.number("beta")};
  if (product.beta != 0) product.c = in(Places(c).c, m, n);
  return product;
}

// The sum of products alone, at a column of b.
Truth sum_at(const Case& c, const Elements& inputs, int64_t batch, int64_t row, int64_t col) {
  Product product = product_of(c, batch);
  product.alpha = 1;
  product.beta = 0;
  return product_truth(product, inputs, row, col);
}

Truth element_at(const Case& c, const Elements& inputs, int64_t batch, int64_t row, int64_t col) {
  const int64_t m = c.size("m"), n = c.size("n"), cols = columns_of_b(c);
  const Places places(c);
  const auto at = [&](size_t tensor, int64_t index, double otherwise) {
    return tensor == Places::kNowhere ? otherwise : inputs.at(tensor, index);
  };
  const auto bias = [&](int64_t of) { return at(places.bias, batch * cols + of, 0); };
  if (c.op == kSwiglu)
    return gated(c, sum_at(c, inputs, batch, row, 2 * col), bias(2 * col),
                 sum_at(c, inputs, batch, row, 2 * col + 1), bias(2 * col + 1));
  return finished(c, sum_at(c, inputs, batch, row, col),
                  {.row_scale = at(places.row_scale, batch * m + row, 1),
                   .col_scale = at(places.col_scale, batch * n + col, 1),
                   .bias = bias(col),
                   .c = at(places.c, (batch * m + row) * n + col, 0)});
}

std::optional<Truth> truth_at(const Case& c, const Elements& inputs, size_t tensor, int64_t index) {
  const int64_t m = c.size("m"), n = c.size("n");
  if (tensor == kD) return element_at(c, inputs, index / (m * n), index / n % m, index % n);
  Truth most;  // amax
  for (int64_t col = 0; col < n; ++col)
    most = larger(most, element_at(c, inputs, index / m, index % m, col));
  return most;
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

// Whole numbers for which every step of the epilogue is exact, too: scales are 1 and 2, and a bias
// is as large as an element of c. The proof knows no epilogue.
void fill_exactly_fused(const Case& c, Workload& w) {
  const Places places(c);
  Product bound = product_of(c, 0);
  for (const size_t scale : {places.row_scale, places.col_scale})
    if (scale != Places::kNowhere) bound.alpha *= 2;
  if (places.bias != Places::kNowhere) {
    bound.beta = std::fabs(bound.beta) + 1;
    if (!bound.c) bound.c = {.tensor = places.bias};
  }
  if (!fill_exactly(w, bound)) return;
  w.exact = false;
  if (places.bias != Places::kNowhere) {
    w["bias"].fill = w["b"].fill;
    w["bias"].limit = w["b"].limit;
  }
}

void workload(const Case& c, Workload& w) {
  const double batch = double(c.size("batch")), m = double(c.size("m")), n = double(c.size("n")),
               k = double(c.size("k"));
  const double cols = double(columns_of_b(c)), size = double(size_of(w["a"].dtype));
  if (!Places::has_c(c))
    std::erase_if(w.tensors, [](const TensorSpec& t) { return t.name == "c"; });
  const auto [arithmetic, rounding] = roundings_of(c);
  w["d"].arithmetic = arithmetic;
  w["d"].rounding = rounding;
  const bool is_exact_with_epilogue = c.op == kFused && c.number("activation") <= 1;  // relu
  if (c.exact && c.specials && (c.op == kGemm || is_exact_with_epilogue))
    w["d"].rounding = w["d"].arithmetic = 0;
  else if (c.exact && c.op == kGemm) (void)fill_exactly(w, product_of(c, 0));
  else if (c.exact && is_exact_with_epilogue) fill_exactly_fused(c, w);
  if (c.has("amax")) {  // f32, but rounded as d is
    const double unit = unit_roundoff(w["d"].dtype) / unit_roundoff(Dtype::f32);
    w["amax"].arithmetic = w["d"].arithmetic + w["d"].rounding * unit;
    w["amax"].rounding = 0;
  }
  for (const char* scale : {"row_scale", "col_scale"})
    if (c.has(scale)) w[scale].fill = Fill::positive;
  double read = 0, written = 0;
  for (const TensorSpec& t : w.tensors) {
    const bool is_read = t.name != "c" || c.number("beta") != 0;
    if (t.role == Role::in && is_read) read += double(count(t.shape)) * double(size_of(t.dtype));
    if (t.role == Role::out) written += double(count(t.shape)) * double(size_of(t.dtype));
  }
  w.cost = {.read = read,
            .written = written,
            .flops = 2 * batch * m * cols * k,
            .arithmetic = size == 2 ? Arithmetic::tensor_f16
                          : may_round(c) ? Arithmetic::tensor_tf32
                                         : Arithmetic::f32,
            .one_truth = 2 * k * cols / std::max(n, 1.0)};
}

// Specials stand in the sums of a few results only.
std::optional<double> special(const Case& c, size_t tensor, int64_t index) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (tensor == Places(c).c) return c.number("beta") == 0 ? NAN : double(index % 5) - 2;
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
std::optional<double> input(const Case& c, size_t tensor, int64_t index) {
  if (!c.specials && !c.exact) return std::nullopt;
  const Places places(c);
  if (tensor == places.row_scale || tensor == places.col_scale) return double(index % 2) + 1;
  return c.specials ? special(c, tensor, index) : std::nullopt;
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

// Factors that lie right, askew, and wrong, around tiles of 128 by 128 and 256, 32 levels deep;
// more tiles than an H200 has SMs; results that the copy engine cannot reach, and c.
std::vector<Case> tf32_tests() {
  std::vector<Case> cases = demands(Dtype::f32);
  append(cases, sizes(Dtype::f32, {{3, 5, 7}, {131, 67, 37}, {72, 132, 72}}));
  append(cases, sizes(Dtype::f32, {{132, 260, 96}}, 4));
  append(cases, {{.shape = {140, 16, 24, 36}},
                 {.shape = {2, 136, 264, 40}, .padding = 4, .padding_skew = 4},
                 {.shape = {40, 35, 67}, .padding = 1},
                 {.shape = {130, 300, 200}, .specials = true, .transposed = {"a", "b"}}});
  for (Case& c : cases) c.parameters.emplace_back("precision", kTf32);
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
  // Sums that are cut: all of few, long ones, and those of the last turn of tiles, which are more
  // than all SMs of an H200 hold. Tiles of 256 by 128 inside of d and at its edges.
  append(cases, {{.shape = {20, 36, 300}, .parameters = {{"alpha", 1.5}, {"beta", -0.5}}},
                 {.shape = {1060, 3, 5, 40}, .transposed = {"a"}},
                 {.shape = {260, 136, 100}, .transposed = {"a"}}});
  append(cases, tf32_tests());
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    append(cases, demands(dtype));
    append(cases, sizes(dtype, {{3, 5, 7}, {65, 63, 33}}));
    // Lines that lie askew and are longer than a tile; one operand of two that lies askew.
    append(cases, sizes(dtype, {{131, 263, 67}, {72, 133, 72}}));
    // More tiles than SMs: blocks that stay make several, here of two steps each.
    append(cases, {{.dtype = dtype, .shape = {140, 16, 24, 72}},
                   {.dtype = dtype, .shape = {140, 24, 16, 72}, .transposed = {"a", "b"}}});
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
            // Rows of d at multiples of 16 bytes, of which they fill no whole number.
            {.dtype = dtype, .shape = {40, 36, 68}, .padding = 4},
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
  append(cases, fused_tests());
  return cases;
}

// The ladder is climbed at 4096 cubed; elsewhere the library stands beside its rivals.
std::vector<Case> timings() {
  std::vector<Case> cases;
  const auto add = [&](Dtype dtype, const std::vector<int64_t>& shape,
                       const std::vector<Names>& transposes = {{}}) {
    for (const Names& transposed : transposes)
      cases.push_back(
          {.dtype = dtype, .shape = shape, .library_only = true, .transposed = transposed});
  };
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    add(dtype, {4096, 4096, 4096}, kTransposes);
    cases[cases.size() - kTransposes.size()].library_only = dtype == Dtype::f16;
    const bool is_f32 = dtype == Dtype::f32;
    for (const int64_t n : {1024, 2048, 8192})
      add(dtype, {n, n, n}, is_f32 ? std::vector<Names>{{}} : kTransposes);
    add(dtype, {4096, 14336, 4096}, is_f32 ? std::vector<Names>{{}} : kTransposes);
    add(dtype, {2039, 3001, 1999});  // primes
    for (const Shapes::value_type& batch :
         Shapes{{32, 1024, 1024, 1024}, {512, 128, 128, 128}, {8192, 64, 64, 64}})
      add(dtype, batch);
    if (is_f32) continue;
    add(dtype, {16384, 16384, 16384}, {{}, {"b"}});
    add(dtype, {4096, 4096, 14336}, kTransposes);
    add(dtype, {8192, 28672, 8192}, {{"b"}});
    for (const int64_t m : {1, 16, 64})
      for (const auto& [n, k] : {std::pair<int64_t, int64_t>{14336, 4096}, {4096, 14336}})
        add(dtype, {m, n, k}, {{}, {"b"}});
  }
  const size_t before = cases.size();
  for (const int64_t n : {2048, 4096, 8192}) add(Dtype::f32, {n, n, n}, kTransposes);
  for (size_t i = before; i < cases.size(); ++i) cases[i].parameters = {{"precision", kTf32}};
  append(cases, fused_timings());
  return cases;
}

// --- Tuning ---

// Sizes between two bounds, each doubling as likely as another.
struct Range {
  double low, high;
  int64_t at(double share) const { return int64_t(low * std::pow(high / low, share)); }
};
struct Ranges {
  Range m, n, k, batch;
  double most_products;  // m n k batch
};
constexpr Ranges kRealSizes = {{1, 16384}, {32, 16384}, {32, 16384}, {2, 512}, 1e12};
constexpr Ranges kSmallSizes = {{8, 200}, {8, 200}, {16, 400}, {2, 4}, 1 << 19};

Case drawn(const Ranges& ranges, uint64_t seed, bool turned_a) {
  for (uint64_t attempt = 0;; ++attempt) {
    uint64_t place = 16 * attempt;
    const auto share = [&] { return unit(hash(seed, place++)); };
    int64_t m = ranges.m.at(share()), n = ranges.n.at(share()), k = ranges.k.at(share());
    const bool is_batch = share() < 0.25;
    const int64_t batch = is_batch ? ranges.batch.at(share()) : 1;
    // Most matrices of the world lie where the copy engine reaches them.
    if (share() < 0.75) {
      const auto whole = [](int64_t x) { return (x + 7) / 8 * 8; };
      n = whole(n), k = whole(k);
      if (turned_a) m = whole(m);
    }
    if (double(m) * double(n) * double(k) * double(batch) > ranges.most_products) continue;
    return {.shape = {batch, m, n, k}, .seed = seed};
  }
}

std::vector<Case> tuning(int count, uint64_t seed, bool small) {
  std::vector<Case> cases;
  const auto add = [&](Dtype dtype, int precision) {
    for (size_t t = 0; t < kTransposes.size(); ++t)
      for (int i = 0; i < count; ++i) {
        const uint64_t of_class =
            hash(seed, (uint64_t(dtype) + 16 * uint64_t(precision)) * kTransposes.size() + t);
        Case c =
            drawn(small ? kSmallSizes : kRealSizes, hash(of_class, uint64_t(i)), t == 1 || t == 3);
        c.dtype = dtype;
        c.transposed = kTransposes[t];
        if (precision != kFull) c.parameters = {{"precision", precision}};
        cases.push_back(c);
      }
  };
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) add(dtype, kFull);
  add(Dtype::f32, kTf32);
  return cases;
}

}  // namespace

FamilyOf<Args> family() {
  return {.summary = "d = alpha a b + beta c, batched, any layout, with an epilogue",
          .unit = "TFLOP/s",
          .workload = workload,
          .tests = tests,
          .timings = timings,
          .tour = {.shape = {256, 256, 256}},
          .tuning = tuning,
          .input = input,
          .truth_at = truth_at,
          .proof = proof,
          .check = check};
}

}  // namespace ridge::gemm
