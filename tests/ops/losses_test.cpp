// Losses and sampling of ridge/operators.h: values that anybody can check, and what is refused.
#include <cmath>
#include <functional>

#include "device_array.h"
#include "ridge/operators.h"

namespace ridge {
namespace {

// Calls twice: how much workspace, then with it.
Status with_workspace(const std::function<Status(const Workspace&)>& call) {
  std::size_t bytes = 0;
  if (const Status asked = call(Workspace::ask(bytes)); !asked) return asked;
  const DeviceArray<char> memory(bytes);
  return call({memory.data(), bytes});
}
void expect_near(const std::vector<float>& got, const std::vector<float>& wanted, double error) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], error) << i;
}

// Three rows of 1/8, 1/4, 1/8, 1/2, far from 0; the second one does not count.
constexpr float kFar = 1024;
const std::vector<float> kLogits = {
    kFar, kFar + std::log(2.f), kFar, kFar + std::log(4.f), 1, NAN, 3, 4,
    kFar, kFar + std::log(2.f), kFar, kFar + std::log(4.f)};
const std::vector<int64_t> kTargets = {1, -100, 3};
constexpr double kRounded = 1e-4;  // logarithms beside 1024

TEST(Losses, CrossEntropy) {
  const DeviceArray<float> x(kLogits), loss(1), losses(3), lse(3), gradient(12);
  const DeviceArray<int64_t> targets(kTargets);
  const Tensor logits(x.data(), Dtype::f32, {3, 4}), t(targets.data(), Dtype::i64, {3}),
      mean(loss.data(), Dtype::f32, {1}), each(losses.data(), Dtype::f32, {3}),
      sums(lse.data(), Dtype::f32, {3}), dlogits(gradient.data(), Dtype::f32, {3, 4});
  ASSERT_TRUE(with_workspace([&](const Workspace& w) {
    return cross_entropy(logits, t, &mean, &each, &sums, 0, 0, -100, w);
  }));
  expect_near(losses.values(), {std::log(4.f), 0, std::log(2.f)}, kRounded);
  expect_near(loss.values(), {std::log(8.f) / 2}, kRounded);
  expect_near(lse.values(), {kFar + std::log(8.f), 0, kFar + std::log(8.f)}, kRounded);

  const std::vector<float> wanted = {.0625f, -.375f, .0625f, .25f,  0,      0,
                                     0,      0,      .0625f, .125f, .0625f, -.25f};
  const DeviceArray<float> one(1, 1.f);
  const Tensor dloss(one.data(), Dtype::f32, {1});
  ASSERT_TRUE(with_workspace([&](const Workspace& w) {
    return cross_entropy_backward(logits, t, sums, &dloss, nullptr, dlogits, 0, 0, -100, w);
  }));
  expect_near(gradient.values(), wanted, kRounded);
  // Both at once, in place of the logits.
  ASSERT_TRUE(with_workspace([&](const Workspace& w) {
    return cross_entropy_with_gradient(logits, t, &mean, nullptr, nullptr, logits, 0, 0, -100, 1,
                                       w);
  }));
  expect_near(loss.values(), {std::log(8.f) / 2}, kRounded);
  expect_near(x.values(), wanted, kRounded);

  EXPECT_EQ(cross_entropy(logits, t, &mean, &each, nullptr, 2).message(),
            "cross_entropy: reduction none gives losses, and no loss");
  EXPECT_EQ(cross_entropy(logits, t, nullptr, nullptr, nullptr).message(),
            "cross_entropy: there is nothing to compute: pass loss, losses or lse");
  EXPECT_EQ(cross_entropy(logits, t, &mean, nullptr, nullptr, 0, 1.5).message(),
            "cross_entropy: label_smoothing is 1.5; it has to be at least 0 and at most 1");
}

// As cross_entropy of the product, which has a whole number as each logit.
TEST(Losses, LinearCrossEntropy) {
  const DeviceArray<float> h(std::vector<float>{1, 0, 2, 1}),
      weight(std::vector<float>{0, 1, 1, 0, 1, 1}), loss(1), dh(4), dw(6);
  const DeviceArray<int32_t> targets(std::vector<int32_t>{1, 2});
  const Tensor dhidden(dh.data(), Dtype::f32, {2, 2}), dweight(dw.data(), Dtype::f32, {3, 2});
  ASSERT_TRUE(with_workspace([&](const Workspace& w) {
    return linear_cross_entropy({h.data(), Dtype::f32, {2, 2}}, {weight.data(), Dtype::f32, {3, 2}},
                                {targets.data(), Dtype::i32, {2}}, {loss.data(), Dtype::f32, {1}},
                                nullptr, &dhidden, &dweight, 1, 0, -100, 1, w);
  }));
  // Logits 0, 1, 1 and 1, 2, 3.
  const double e = std::exp(1), first = 1 + 2 * e, second = e + e * e + e * e * e;
  const double p[2][3] = {{1 / first, e / first - 1, e / first},
                          {e / second, e * e / second, e * e * e / second - 1}};
  expect_near(loss.values(), {float(std::log(first) - 1 + std::log(second) - 3)}, 1e-5);
  std::vector<float> wanted_h, wanted_w;
  for (const auto& g : p) {
    wanted_h.push_back(float(g[1] + g[2]));
    wanted_h.push_back(float(g[0] + g[2]));
  }
  for (int c = 0; c < 3; ++c) {
    wanted_w.push_back(float(p[0][c] + 2 * p[1][c]));
    wanted_w.push_back(float(p[1][c]));
  }
  expect_near(dh.values(), wanted_h, 1e-5);
  expect_near(dw.values(), wanted_w, 1e-5);
}

TEST(Losses, Dpo) {
  const DeviceArray<float> same(2, -200.f), loss(1), chosen(2), rejected(2);
  const Tensor t(same.data(), Dtype::f32, {2});
  ASSERT_TRUE(with_workspace([&](const Workspace& w) {
    return dpo_loss(t, t, t, t, {loss.data(), Dtype::f32, {1}}, {chosen.data(), Dtype::f32, {2}},
                    {rejected.data(), Dtype::f32, {2}}, 0.5, 0, w);
  }));
  expect_near(loss.values(), {std::log(2.f)}, 1e-6);
  expect_near(chosen.values(), {-.125f, -.125f}, 1e-6);
  expect_near(rejected.values(), {.125f, .125f}, 1e-6);
}

std::vector<int> drawn(const DeviceArray<float>& logits, int rows, double top_p, int64_t offset) {
  const DeviceArray<int32_t> tokens(size_t(rows), -2);
  EXPECT_TRUE(with_workspace([&](const Workspace& w) {
    return sample({logits.data(), Dtype::f32, {rows, 4}}, {tokens.data(), Dtype::i32, {rows}}, 1, 0,
                  top_p, 0, 7, offset, w);
  }));
  const std::vector<int32_t> values = tokens.values();
  return {values.begin(), values.end()};
}

// Frequencies within five deviations; the same tokens again, and others with another offset.
TEST(Losses, SampleHasTheProbabilitiesOfSoftmax) {
  constexpr int kRows = 4096;
  std::vector<float> x;
  for (int r = 0; r < kRows; ++r) x.insert(x.end(), kLogits.begin(), kLogits.begin() + 4);
  const DeviceArray<float> logits(x);
  const double probabilities[] = {.125, .25, .125, .5};
  const std::vector<int> tokens = drawn(logits, kRows, 1, 0);
  for (int c = 0; c < 4; ++c) {
    const double p = probabilities[c], expected = kRows * p;
    EXPECT_NEAR(double(std::count(tokens.begin(), tokens.end(), c)), expected,
                5 * std::sqrt(expected * (1 - p)))
        << c;
  }
  EXPECT_EQ(drawn(logits, kRows, 1, 0), tokens);
  EXPECT_NE(drawn(logits, kRows, 1, 1), tokens);
  // 1/2 and 1/4 are kept, and are drawn two to one.
  const std::vector<int> kept = drawn(logits, kRows, 0.7, 0);
  const auto threes = std::count(kept.begin(), kept.end(), 3);
  EXPECT_EQ(threes + std::count(kept.begin(), kept.end(), 1), kRows);
  EXPECT_NEAR(double(threes), kRows * 2 / 3.0, 5 * std::sqrt(kRows * 2 / 9.0));
}

}  // namespace
}  // namespace ridge
