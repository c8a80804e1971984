#include "harness/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace ridge::harness {
namespace {

constexpr int kResamples = 2000;
constexpr size_t kFewest = 5;  // samples, for an interval to mean something

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * double(sorted.size() - 1);
  const auto below = size_t(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - double(below)) * (sorted[above] - sorted[below]);
}

double median_of_resample(std::span<const double> samples, std::mt19937_64& random,
                          std::vector<double>& scratch) {
  scratch.resize(samples.size());
  for (double& x : scratch) x = samples[random() % samples.size()];
  const auto middle = scratch.begin() + std::ptrdiff_t(scratch.size() / 2);
  std::nth_element(scratch.begin(), middle, scratch.end());
  return *middle;
}

}  // namespace

Summary summarize(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75),
          int(samples.size())};
}

Comparison compare(std::span<const double> before, std::span<const double> after,
                   double threshold) {
  if (before.empty() || after.empty()) return {};
  Comparison result;
  result.ratio = summarize({after.begin(), after.end()}).median /
                 summarize({before.begin(), before.end()}).median;
  result.low = result.high = result.ratio;
  if (before.size() < kFewest || after.size() < kFewest) return result;

  std::mt19937_64 random(12345);
  std::vector<double> ratios(kResamples), scratch;
  for (double& ratio : ratios) {
    const double old = median_of_resample(before, random, scratch);
    ratio = median_of_resample(after, random, scratch) / old;
  }
  std::sort(ratios.begin(), ratios.end());
  result.low = quantile(ratios, 0.025);
  result.high = quantile(ratios, 0.975);
  if (result.high < 1 - threshold) result.change = Change::faster;
  else if (result.low > 1 + threshold) result.change = Change::slower;
  else if (result.low >= 1 - threshold && result.high <= 1 + threshold)
    result.change = Change::same;
  return result;
}

}  // namespace ridge::harness
