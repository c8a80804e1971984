#include "ladder/product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/number.h"
#include "fake_ladder.h"
#include "harness/inputs.h"

namespace ridge::harness {
namespace {

enum Tensor : size_t { kA, kB, kOut };

struct Form {
  int64_t m, n, k;
  Dtype dtype = Dtype::f32;
  double alpha = 1, beta = 0;
  bool a_turned = false, b_turned = false;  // the tensor holds the transpose
};

Product product_of(const Form& f) {
  const auto matrix = [](size_t tensor, int64_t rows, int64_t cols, bool turned) {
    return turned ? MatrixIn{.tensor = tensor, .row_step = 1, .col_step = rows}
                  : MatrixIn{.tensor = tensor, .row_step = cols, .col_step = 1};
  };
  return {.m = f.m,
          .n = f.n,
          .k = f.k,
          .a = matrix(kA, f.m, f.k, f.a_turned),
          .b = matrix(kB, f.k, f.n, f.b_turned),
          .out = matrix(kOut, f.m, f.n, false),
          .alpha = f.alpha,
          .beta = f.beta};
}

// A product with exact inputs, its proof, and the right result, computed in f32 as a kernel does it
// and rounded to its format.
class Trial {
 public:
  Trial(const Form& form, uint64_t seed) : p(product_of(form)) {
    const auto shape = [](int64_t rows, int64_t cols, bool turned) {
      return turned ? std::vector{cols, rows} : std::vector{rows, cols};
    };
    workload.tensors = {
        {.name = "a", .dtype = form.dtype, .shape = shape(p.m, p.k, form.a_turned)},
        {.name = "b", .dtype = form.dtype, .shape = shape(p.k, p.n, form.b_turned)},
        {.name = "out", .dtype = form.dtype, .shape = {p.m, p.n}, .role = Role::inout}};
    is_exact = fill_exactly(workload, p);
    if (!is_exact) return;
    inputs = std::make_unique<MadeInputs>(ladder, Case{.seed = seed}, workload);
    proof = product_proof(p, *inputs, seed + 77);
    for (int64_t row = 0; row < p.m; ++row)
      for (int64_t k = 0; k < p.k; ++k)
        a.push_back(float(inputs->at(kA, row * p.a.row_step + k * p.a.col_step)));
    for (int64_t col = 0; col < p.n; ++col)
      for (int64_t k = 0; k < p.k; ++k)
        b.push_back(float(inputs->at(kB, k * p.b.row_step + col * p.b.col_step)));
  }

  double element(int64_t row, int64_t col, int64_t first_k, int64_t last_k) const {
    float sum = 0;
    for (int64_t k = first_k; k < last_k; ++k)
      sum += a[size_t(row * p.k + k)] * b[size_t(col * p.k + k)];
    float result = float(p.alpha) * sum;
    if (p.beta != 0) result += float(p.beta) * float(inputs->at(kOut, row * p.n + col));
    return rounded(workload.tensors[kOut].dtype, double(result));
  }
  // Of k from first_k to last_k only.
  HostElements computed(int64_t first_k, int64_t last_k) const {
    HostElements results(workload);
    for (int64_t row = 0; row < p.m; ++row)
      for (int64_t col = 0; col < p.n; ++col)
        results.values[kOut][size_t(row * p.n + col)] = element(row, col, first_k, last_k);
    return results;
  }
  HostElements right() const { return computed(0, p.k); }

  Product p;
  FakeLadder ladder;
  Workload workload;
  bool is_exact = false;
  std::unique_ptr<MadeInputs> inputs;
  Proof proof;
  std::vector<float> a;  // (m, k)
  std::vector<float> b;  // (n, k)
};

const Form kForms[] = {
    {.m = 37, .n = 29, .k = 53},
    {.m = 37, .n = 29, .k = 53, .alpha = 1.5, .beta = -0.5},
    {.m = 20, .n = 33, .k = 300, .dtype = Dtype::f16},
    {.m = 20, .n = 33, .k = 1100, .dtype = Dtype::bf16},  // most of a is 0
    {.m = 20, .n = 33, .k = 300, .dtype = Dtype::bf16, .alpha = 2, .beta = 1},
    {.m = 50, .n = 1, .k = 64, .beta = 3},
    {.m = 1, .n = 50, .k = 64, .dtype = Dtype::f16},
    {.m = 24, .n = 18, .k = 40, .a_turned = true},
    {.m = 24, .n = 18, .k = 40, .b_turned = true},
    {.m = 24, .n = 18, .k = 40, .dtype = Dtype::bf16, .a_turned = true, .b_turned = true},
};

TEST(ProductProof, NeverRefusesARightResult) {
  for (const Form& form : kForms)
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const Trial c(form, seed);
      ASSERT_TRUE(c.is_exact);
      EXPECT_EQ(c.proof(c.right()), "") << "k " << form.k << " seed " << seed;
    }
}

TEST(ProductProof, EmptyProductsHaveOneToo) {
  for (const Form& form : {Form{.m = 0, .n = 5, .k = 3}, Form{.m = 5, .n = 0, .k = 3},
                           Form{.m = 5, .n = 20, .k = 0, .beta = 2}}) {
    const Trial c(form, 1);
    ASSERT_TRUE(c.is_exact);
    EXPECT_EQ(c.proof(c.right()), "");
  }
}

TEST(ProductProof, FindsOneWrongElementWhereverItIs) {
  for (const Form& form : kForms) {
    const Trial c(form, 3);
    HostElements results = c.right();
    for (int64_t i = 0; i < form.m * form.n; ++i) {
      double& element = results.values[kOut][size_t(i)];
      const double truth = element;
      for (const double wrong : {truth + 1, truth - 2, -truth - 1, 1e30, double(NAN),
                                 double(INFINITY), truth + 0x1p-20}) {
        if (wrong == truth) continue;
        element = wrong;
        const std::string complaint = c.proof(results);
        ASSERT_NE(complaint.find(place(c.workload.tensors[kOut], i)), std::string::npos)
            << "element " << i << ", " << wrong << " in place of " << truth << ": " << complaint;
      }
      element = truth;
    }
  }
}

TEST(ProductProof, FindsTwoErrorsThatAddUpToNothing) {
  const Trial c(kForms[0], 5);
  HostElements results = c.right();
  results.values[kOut][3] += 1;
  results.values[kOut][size_t(3 + c.p.n)] -= 1;
  EXPECT_NE(c.proof(results), "");
}

TEST(ProductProof, FindsRowsThatChangedPlaces) {
  const Trial c(kForms[0], 6);
  for (int64_t row = 0; row + 1 < c.p.m; ++row) {
    HostElements results = c.right();
    for (int64_t col = 0; col < c.p.n; ++col)
      std::swap(results.values[kOut][size_t(row * c.p.n + col)],
                results.values[kOut][size_t((row + 1) * c.p.n + col)]);
    EXPECT_NE(c.proof(results), "") << row;
  }
}

TEST(ProductProof, FindsATransposedTile) {
  const Trial c({.m = 64, .n = 64, .k = 40}, 7);
  constexpr int64_t kTile = 8;
  for (int64_t top = 0; top < c.p.m; top += kTile)
    for (int64_t left = 0; left < c.p.n; left += kTile) {
      HostElements results = c.right();
      auto& out = results.values[kOut];
      for (int64_t i = 0; i < kTile; ++i)
        for (int64_t j = 0; j < i; ++j)
          std::swap(out[size_t((top + i) * c.p.n + left + j)],
                    out[size_t((top + j) * c.p.n + left + i)]);
      EXPECT_NE(c.proof(results), "") << top << ", " << left;
    }
}

TEST(ProductProof, FindsProductsThatWereLeftOut) {
  for (const Form& form : kForms) {
    const Trial c(form, 8);
    EXPECT_NE(c.proof(c.computed(1, form.k)), "") << "without the first of " << form.k;
    EXPECT_NE(c.proof(c.computed(0, form.k - 1)), "") << "without the last of " << form.k;
  }
  const Trial c({.m = 40, .n = 40, .k = 128}, 9);
  constexpr int64_t kSlice = 16;
  for (int64_t dropped = 0; dropped < c.p.k; dropped += kSlice) {
    HostElements results = c.right();
    const HostElements slice = c.computed(dropped, dropped + kSlice);
    for (size_t i = 0; i < results.values[kOut].size(); ++i)
      results.values[kOut][i] -= slice.values[kOut][i];
    EXPECT_NE(c.proof(results), "") << "without k from " << dropped;
  }
}

TEST(ProductProof, FindsAnElementOfALargeProduct) {
  const Form form = {.m = 700, .n = 900, .k = 500};
  const Trial c(form, 10);
  HostElements results = c.right();
  ASSERT_EQ(c.proof(results), "");
  std::mt19937_64 random(1);
  for (int i = 0; i < 40; ++i) {
    const auto at = size_t(random() % uint64_t(form.m * form.n));
    results.values[kOut][at] += 1;
    const std::string complaint = c.proof(results);
    EXPECT_NE(complaint.find(place(c.workload.tensors[kOut], int64_t(at))), std::string::npos)
        << complaint;
    results.values[kOut][at] -= 1;
  }
}

TEST(ProductProof, ManySeedsLetNoErrorThrough) {
  const Form form = {.m = 9, .n = 17, .k = 11};
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const Trial c(form, seed);
    HostElements results = c.right();
    ASSERT_EQ(c.proof(results), "");
    // The error that 2^22 divides is the one that could slip through most easily.
    double& element = results.values[kOut][size_t(seed % uint64_t(form.m * form.n))];
    element += element > 0 ? -0x1p22 : 0x1p22;
    ASSERT_NE(c.proof(results), "") << seed;
  }
}

TEST(FillExactly, SaysWhereThereIsNoExactProduct) {
  EXPECT_FALSE(Trial({.m = 4, .n = 4, .k = 4, .alpha = 0.3}, 1).is_exact);
  EXPECT_FALSE(Trial({.m = 4, .n = 4, .k = 4, .alpha = NAN}, 1).is_exact);
  EXPECT_FALSE(Trial({.m = 4, .n = 4, .k = 4, .beta = INFINITY}, 1).is_exact);
  EXPECT_FALSE(Trial({.m = 4, .n = 4, .k = 4, .alpha = 1e9}, 1).is_exact);
  EXPECT_FALSE(Trial({.m = 4, .n = 4, .k = 4, .dtype = Dtype::bf16, .alpha = 300}, 1).is_exact);
  EXPECT_FALSE(Trial({.m = 4, .n = 4, .k = 4096, .dtype = Dtype::e4m3}, 1).is_exact);
  EXPECT_FALSE(Trial({.m = 4, .n = 4, .k = 4, .dtype = Dtype::u8}, 1).is_exact);  // no -1
  EXPECT_TRUE(Trial({.m = 4, .n = 4, .k = 4096, .dtype = Dtype::i32}, 1).is_exact);
}

TEST(FillExactly, TakesTheRichestNumbersThatFit) {
  const auto fill = [](const Form& f) { return Trial(f, 1).workload.tensors[kA].fill; };
  const auto limit = [](const Form& f) { return Trial(f, 1).workload.tensors[kA].limit; };
  EXPECT_EQ(fill({.m = 1, .n = 1, .k = 1 << 18}), Fill::counted);
  EXPECT_EQ(fill({.m = 1, .n = 1, .k = 1 << 22}), Fill::counted);  // sure enough
  EXPECT_EQ(fill({.m = 1, .n = 1, .k = 200, .dtype = Dtype::f16}), Fill::counted);
  EXPECT_EQ(fill({.m = 1, .n = 1, .k = 16384, .dtype = Dtype::f16}), Fill::signs);
  EXPECT_EQ(limit({.m = 1, .n = 1, .k = 16384, .dtype = Dtype::f16}), 1);
  EXPECT_EQ(fill({.m = 1, .n = 1, .k = 16384, .dtype = Dtype::bf16}), Fill::signs);
  EXPECT_GT(limit({.m = 1, .n = 1, .k = 16384, .dtype = Dtype::bf16}), 30);
}

TEST(ProductTruth, IsTheDotProductWithItsMagnitude) {
  for (const Form& form : kForms) {
    const Trial c(form, 11);
    const HostElements right = c.right();
    for (int64_t row = 0; row < form.m; row += 7)
      for (int64_t col = 0; col < form.n; col += 5) {
        const Truth truth = product_truth(c.p, *c.inputs, row, col);
        EXPECT_EQ(truth.value, right.values[kOut][size_t(row * form.n + col)]);
        EXPECT_GE(truth.magnitude, std::fabs(truth.value));
      }
  }
}

}  // namespace
}  // namespace ridge::harness
