// Medians, spreads, and whether two sets of samples differ.
#pragma once

#include <span>
#include <vector>

namespace ridge::harness {

struct Summary {
  double median = 0, q1 = 0, q3 = 0;
  int samples = 0;
  double spread() const { return median > 0 ? (q3 - q1) / median : 0; }
};
Summary summarize(std::vector<double> samples);

enum class Change { faster, slower, same, unclear };

// Ratio of medians, new over old, with a 95 % interval by bootstrap (seeded: the same samples
// always give the same answer).
struct Comparison {
  double ratio = 1, low = 1, high = 1;
  Change change = Change::unclear;
};
// `threshold`: a change of less than this share is no change.
Comparison compare(std::span<const double> before, std::span<const double> after,
                   double threshold = 0.01);

}  // namespace ridge::harness
