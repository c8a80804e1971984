// Fits of costs to times, on times whose constants are known.
#include "harness/fit.h"

#include <gtest/gtest.h>

#include <vector>

namespace ridge::harness {
namespace {

// Calls of many sizes; memory bounds every one whose turns are few and whose bytes are many.
std::vector<TimedTerms> samples_of(const Constants& constants, double memory_us = 0,
                                   double noise = 0) {
  std::vector<TimedTerms> samples;
  for (int turns = 1; turns <= 64; turns *= 2)
    for (int steps = 1; steps <= 256; steps *= 4) {
      const double sign = (samples.size() % 2) ? 1 : -1;
      Terms terms = {.counts = {1, double(turns * steps), double(turns)},
                     .memory_us = memory_us,
                     .besides_us = double(samples.size() % 3)};
      samples.push_back({terms, predicted_us(terms, constants) * (1 + sign * noise)});
    }
  return samples;
}

void expect_near(const Constants& got, const Constants& wanted, double share) {
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], share * wanted[i] + 1e-6) << "constant " << i;
}

TEST(Terms, PredictionIsCountsTimesConstants) {
  const Terms terms = {.counts = {1, 20, 4}, .memory_us = 0, .besides_us = 3};
  EXPECT_DOUBLE_EQ(predicted_us(terms, {5, 0.5, 0.25}), 3 + 5 + 10 + 1);
}

TEST(Terms, MemoryBoundsAllButTheLaunch) {
  const Terms terms = {.counts = {1, 20, 4}, .memory_us = 40, .besides_us = 3};
  EXPECT_DOUBLE_EQ(predicted_us(terms, {5, 0.5, 0.25}), 3 + 5 + 40);
  EXPECT_GE(predicted_us(kImpossible, {5, 0.5, 0.25}), kNever);
}

TEST(Fit, FindsTheConstants) {
  const Constants constants = {5.0, 0.335, 0.6};
  const auto found = fit(samples_of(constants));
  ASSERT_TRUE(found);
  expect_near(found->constants, constants, 1e-6);
  EXPECT_LT(found->p90_error, 1e-6);
}

TEST(Fit, FindsThemWhereMemoryBoundsSomeCalls) {
  const Constants constants = {5.0, 0.335, 0.6};
  const auto found = fit(samples_of(constants, 12));
  ASSERT_TRUE(found);
  expect_near(found->constants, constants, 1e-6);
}

TEST(Fit, ToldErrorIsThatOfTheSamples) {
  const Constants constants = {5.0, 0.335, 0.6};
  const auto found = fit(samples_of(constants, 0, 0.02));
  ASSERT_TRUE(found);
  expect_near(found->constants, constants, 0.1);
  EXPECT_NEAR(found->median_error, 0.02, 0.01);
  EXPECT_GE(found->p90_error, found->median_error);
}

// The launch alone would be fitted best by a negative time of a step.
TEST(Fit, NoConstantIsNegative) {
  auto samples = samples_of({5, 0, 0});
  for (TimedTerms& sample : samples) sample.us -= 0.001 * sample.terms.counts[1] / 64;
  const auto found = fit(samples);
  ASSERT_TRUE(found);
  for (const double c : found->constants) EXPECT_GE(c, 0);
}

TEST(Fit, FewSamplesGiveNothing) {
  auto samples = samples_of({5, 0.3, 0.6});
  samples.resize(kLeastSamples - 1);
  EXPECT_FALSE(fit(samples));
}

// Counts that always come together cannot be told apart, but their sum can.
TEST(Fit, CountsThatComeTogether) {
  std::vector<TimedTerms> samples;
  for (int steps = 1; steps <= 32; ++steps)
    samples.push_back({{.counts = {1, double(steps), 1}}, 5 + 0.6 + 0.3 * steps});
  const auto found = fit(samples);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->constants[0] + found->constants[2], 5.6, 1e-6);
  EXPECT_NEAR(found->constants[1], 0.3, 1e-6);
}

}  // namespace
}  // namespace ridge::harness
