#include "harness/statistics.h"

#include <gtest/gtest.h>

#include <random>

namespace ridge::harness {
namespace {

std::vector<double> noisy(double middle, double noise, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(middle, noise);
  std::vector<double> samples(size_t(count), 0.0);
  for (double& x : samples) x = normal(random);
  return samples;
}

TEST(Statistics, MedianAndQuartiles) {
  const Summary s = summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.q1, 2);
  EXPECT_EQ(s.q3, 4);
  EXPECT_EQ(s.samples, 5);
  EXPECT_EQ(summarize({1, 2}).median, 1.5);
  EXPECT_EQ(summarize({}).samples, 0);
}

TEST(Statistics, ADifferenceBeyondTheNoiseIsTold) {
  const auto before = noisy(100, 1, 60, 1);
  EXPECT_EQ(compare(before, noisy(95, 1, 60, 2)).change, Change::faster);
  EXPECT_EQ(compare(before, noisy(105, 1, 60, 3)).change, Change::slower);
  EXPECT_EQ(compare(before, noisy(100, 1, 60, 4)).change, Change::same);
}

TEST(Statistics, ADifferenceWithinTheNoiseIsNot) {
  const auto before = noisy(100, 20, 20, 1);
  EXPECT_EQ(compare(before, noisy(98, 20, 20, 2)).change, Change::unclear);
  EXPECT_EQ(compare({}, before).change, Change::unclear);
  const std::vector<double> few = {1, 1, 1};
  EXPECT_EQ(compare(few, few).change, Change::unclear);  // equal, but three samples tell nothing
}

TEST(Statistics, TheSameSamplesGiveTheSameAnswer) {
  const auto a = noisy(100, 5, 30, 1), b = noisy(101, 5, 30, 2);
  const Comparison once = compare(a, b), again = compare(a, b);
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  EXPECT_LE(once.low, once.ratio);
  EXPECT_GE(once.high, once.ratio);
}

}  // namespace
}  // namespace ridge::harness
