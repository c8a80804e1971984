#include "harness/fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ridge::harness {
namespace {

constexpr size_t kCount = size_t(kTerms);
using Matrix = std::array<std::array<double, kCount>, kCount>;

// The sums of squares of a linear problem: rows of counts, each with what they should add up to.
struct Squares {
  Matrix products = {};
  Constants right = {};

  void add(const Constants& row, double target) {
    for (size_t i = 0; i < kCount; ++i) {
      right[i] += row[i] * target;
      for (size_t j = 0; j < kCount; ++j) products[i][j] += row[i] * row[j];
    }
  }
  // How much the squares of errors shrink if the constants are these instead of 0.
  double gain(const Constants& x) const {
    double gain = 0;
    for (size_t i = 0; i < kCount; ++i) {
      gain += 2 * x[i] * right[i];
      for (size_t j = 0; j < kCount; ++j) gain -= x[i] * x[j] * products[i][j];
    }
    return gain;
  }
  // With all constants at 0 but those of the set. Nothing, if the samples do not tell them apart.
  std::optional<Constants> solved(unsigned set) const {
    std::vector<size_t> in;
    for (size_t i = 0; i < kCount; ++i)
      if (set >> i & 1) in.push_back(i);
    Matrix a = {};
    Constants b = {};
    for (size_t r = 0; r < in.size(); ++r) {  // columns scaled to one size
      for (size_t c = 0; c < in.size(); ++c)
        a[r][c] =
            products[in[r]][in[c]] / std::sqrt(products[in[r]][in[r]] * products[in[c]][in[c]]);
      b[r] = right[in[r]] / std::sqrt(products[in[r]][in[r]]);
    }
    for (size_t p = 0; p < in.size(); ++p) {  // positive definite: no exchange of rows is needed
      if (!(a[p][p] > 1e-9)) return std::nullopt;
      for (size_t r = p + 1; r < in.size(); ++r) {
        const double factor = a[r][p] / a[p][p];
        for (size_t c = p; c < in.size(); ++c) a[r][c] -= factor * a[p][c];
        b[r] -= factor * b[p];
      }
    }
    Constants x = {};
    for (size_t p = in.size(); p-- > 0;) {
      double sum = b[p];
      for (size_t c = p + 1; c < in.size(); ++c) sum -= a[p][c] * x[in[c]];
      x[in[p]] = sum / a[p][p];
    }
    for (const size_t i : in) x[i] /= std::sqrt(products[i][i]);
    return x;
  }
};

// Few constants: all sets of those that are not 0 are tried.
Constants least_squares(const Squares& squares) {
  Constants best = {};
  double most = 0;
  for (unsigned set = 1; set < 1u << kCount; ++set) {
    const auto x = squares.solved(set);
    if (!x || std::any_of(x->begin(), x->end(), [](double c) { return c < 0; })) continue;
    if (const double gain = squares.gain(*x); gain > most) {
      most = gain;
      best = *x;
    }
  }
  return best;
}

// With these samples bound by memory: only the launch is left to be fitted in them.
Constants fit_split(std::span<const TimedTerms> samples, const std::vector<bool>& by_memory) {
  Squares squares;
  for (size_t s = 0; s < samples.size(); ++s) {
    const auto& [terms, us] = samples[s];
    Constants row = {terms.counts[0] / us};
    if (!by_memory[s])
      for (size_t i = 1; i < kCount; ++i) row[i] = terms.counts[i] / us;
    squares.add(row, (us - terms.besides_us - (by_memory[s] ? terms.memory_us : 0)) / us);
  }
  return least_squares(squares);
}

std::vector<double> errors_of(std::span<const TimedTerms> samples, const Constants& constants) {
  std::vector<double> errors;
  for (const auto& [terms, us] : samples)
    errors.push_back(std::abs(predicted_us(terms, constants) / us - 1));
  return errors;
}

double squares_of(const std::vector<double>& errors) {
  double sum = 0;
  for (const double e : errors) sum += e * e;
  return sum;
}

}  // namespace

std::optional<Fit> fit(std::span<const TimedTerms> samples) {
  if (int(samples.size()) < kLeastSamples) return std::nullopt;
  Fit best = {.samples = int(samples.size())};
  double least = -1;
  // Which samples are bound by memory depends on the constants, and these on the samples: from two
  // guesses, until nothing changes.
  for (const double guess : {1e30, 0.7}) {
    std::vector<bool> by_memory;
    for (const auto& [terms, us] : samples)
      by_memory.push_back(terms.memory_us > guess * (us - terms.besides_us));
    for (int round = 0; round < 20; ++round) {
      const Constants constants = fit_split(samples, by_memory);
      const double error = squares_of(errors_of(samples, constants));
      if (least < 0 || error < least) {
        least = error;
        best.constants = constants;
      }
      std::vector<bool> next;
      for (const auto& [terms, us] : samples)
        next.push_back(terms.memory_us > work_us(terms, constants));
      if (next == by_memory) break;
      by_memory = next;
    }
  }
  std::vector<double> errors = errors_of(samples, best.constants);
  std::sort(errors.begin(), errors.end());
  best.median_error = errors[errors.size() / 2];
  best.p90_error = errors[errors.size() * 9 / 10];
  return best;
}

}  // namespace ridge::harness
