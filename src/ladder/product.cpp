// Freivalds' check. With a random vector u, u·out must be alpha (u·a)·b + beta u·(what out was):
// n numbers, for which every element of a, b and out is read once, not n, m or k times.
//
// All of it is arithmetic of whole numbers modulo 2^64, so nothing is ever rounded. Results are
// multiples of 2^-q, where alpha and beta are; multiplied by 2^q they are whole numbers of at most
// kMostWhole. Anything else is wrong at sight.
//
// How likely is it that a wrong result passes? Let e be the errors, times 2^q, of a column that has
// any, and 2^t the largest power of two that divides all of them. An element e_i that 2^(t+1) does
// not divide has u_i e_i = (minus the rest of the sum) modulo 2^64 for at most 2^t of the 2^64
// values that u_i takes with equal probability, so u·e = 0 has a probability of at most 2^(t-64).
// No error is larger than 2 kMostWhole = 2^23, so t <= 23, and a wrong column passes with a
// probability of at most 2^-41. One u is enough.
#include "ladder/product.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <random>

#include "core/number.h"
#include "core/parallel.h"

namespace ridge {
namespace {

constexpr double kMostWhole = 1 << 22;
constexpr int64_t kChunk = 1024;  // elements at a time: they stay in the L1 cache

// Calls visit(values, at) for one line of a matrix, chunk by chunk.
template <class Visit>
void read_line(const Elements& from, size_t tensor, int64_t first, int64_t step, int64_t length,
               const Visit& visit) {
  std::array<double, kChunk> values;
  for (int64_t at = 0; at < length; at += kChunk) {
    const auto some = std::span(values).first(size_t(std::min(kChunk, length - at)));
    from.read(tensor, first + at * step, step, some);
    visit(some, at);
  }
}

// --- Numbers that stay exact ---

// The least q for which alpha and beta are multiples of 2^-q. None where they are large or fine.
std::optional<int> binary_places(const Product& p) {
  constexpr int kMost = 12;
  if (!(std::max(std::fabs(p.alpha), std::fabs(p.beta)) <= kMostWhole)) return std::nullopt;
  for (int q = 0; q <= kMost; ++q) {
    const double alpha = std::ldexp(p.alpha, q), beta = std::ldexp(p.beta, q);
    if (alpha == std::floor(alpha) && beta == std::floor(beta)) return q;
  }
  return std::nullopt;
}

// Up to where a format holds every whole number.
double most_whole(Dtype dtype) {
  const NumberFormat& f = format_of(dtype);
  if (f.kind == NumberKind::table) return 0;
  const double all =
      f.kind == NumberKind::integer ? largest(dtype) : std::ldexp(1, f.mantissa_bits + 1);
  return std::min({all, largest(dtype), kMostWhole});
}

bool holds_inputs(Dtype dtype) {
  for (int x = -4; x <= 4; ++x)
    if (rounded(dtype, x) != x) return false;
  return true;
}

// Whether the sum of k products stays within `room`: for certain, or else with a probability that
// Bernstein's inequality bounds. Each product is the one of an element of a, independent and as
// often negative as positive, and one of b, so it has a mean of 0 whatever b is; `variance` is its
// variance where b is largest. A sum leaves the room with a probability of at most 2 e^-kSafety,
// which is 2^-43 for one of 2^36 sums.
constexpr double kSafety = 56;
bool stays_within(double room, double k, double largest_product, double variance) {
  if (k * largest_product <= room) return true;
  return room * room / (2 * (variance * k + largest_product * room / 3)) >= kSafety;
}

struct Fills {
  Fill fill;
  int64_t limit_of_a;
};
std::optional<Fills> exact_fills(double k, double room_for_all, const Product& p, int q) {
  const auto room = [&](double largest_element) {
    const double left = std::ldexp(room_for_all, -q) - std::fabs(p.beta) * largest_element;
    if (left < 0) return left;
    return p.alpha == 0 ? std::numeric_limits<double>::infinity() : left / std::fabs(p.alpha);
  };
  // -4 … 4 without 0 have a variance of 7.5.
  if (room(4) >= 0 && stays_within(room(4), k, 16, 16 * 7.5))
    return Fills{.fill = Fill::counted, .limit_of_a = 0};
  const double most = room(1);
  if (most < 0) return std::nullopt;
  if (stays_within(most, k, 1, 1)) return Fills{.fill = Fill::signs, .limit_of_a = 1};
  // The variance that leaves the sums safe, over all k products.
  const double variance = most * most / (2 * kSafety) - most / 3;
  if (variance < 1) return std::nullopt;
  return Fills{.fill = Fill::signs, .limit_of_a = int64_t(std::ceil(k / variance))};
}

// --- The proof ---

using Words = std::vector<uint64_t>;

// Numbers as they are modulo 2^64, times a power of two. Remembers a column with one that is not
// whole then, or larger than it can be.
struct Whole {
  double scale = 1;
  double most = kMostWhole;
  std::atomic<int64_t> bad_column = -1;

  uint64_t operator()(double value, int64_t column) {
    const double scaled = value * scale;
    if (!(std::fabs(scaled) <= most)) {  // a NaN, too
      bad_column = column;
      return 0;
    }
    const auto whole = int64_t(scaled);
    if (double(whole) != scaled) bad_column = column;
    return uint64_t(whole);
  }
};

// weights · matrix: a sum of rows, or, where those are short, dot products with the columns.
Words weighted_rows(const Elements& from, const MatrixIn& matrix, int64_t rows, int64_t cols,
                    const Words& weights, Whole& whole) {
  constexpr int64_t kFewColumns = 16, kPart = 1 << 16;
  Words sums(size_t(cols), 0);
  if (cols < kFewColumns) {
    in_parallel(cols, 1, [&](int64_t col, int64_t) {
      uint64_t sum = 0;
      read_line(from, matrix.tensor, matrix.first + col * matrix.col_step, matrix.row_step, rows,
                [&](std::span<const double> some, int64_t at) {
                  for (size_t i = 0; i < some.size(); ++i)
                    sum += weights[size_t(at) + i] * whole(some[i], col);
                });
      sums[size_t(col)] = sum;
    });
    return sums;
  }
  std::mutex mutex;
  // Parts so long that adding up their sums costs little.
  in_parallel(rows, std::max<int64_t>(kPart / cols, 16), [&](int64_t first, int64_t last) {
    Words own(size_t(cols), 0);
    for (int64_t row = first; row < last; ++row)
      read_line(from, matrix.tensor, matrix.first + row * matrix.row_step, matrix.col_step, cols,
                [&, weight = weights[size_t(row)]](std::span<const double> some, int64_t at) {
                  for (size_t i = 0; i < some.size(); ++i)
                    own[size_t(at) + i] += weight * whole(some[i], at + int64_t(i));
                });
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < own.size(); ++i) sums[i] += own[i];
  });
  return sums;
}

class ProductProof {
 public:
  ProductProof(const Product& product, const Elements& inputs, uint64_t seed, int q)
      : p_(product), inputs_(inputs), scale_(std::ldexp(1, q)) {
    std::mt19937_64 random(seed);
    for (int64_t row = 0; row < p_.m; ++row) u_.push_back(random());
    Whole whole;
    const Words u_a = weighted_rows(inputs, p_.a, p_.m, p_.k, u_, whole);
    wanted_ = weighted_rows(inputs, p_.b, p_.k, p_.n, u_a, whole);
    for (uint64_t& x : wanted_) x *= factor(p_.alpha);
    if (p_.beta != 0) {
      const Words before = weighted_rows(inputs, p_.added(), p_.m, p_.n, u_, whole);
      for (size_t i = 0; i < wanted_.size(); ++i) wanted_[i] += factor(p_.beta) * before[i];
    }
    inputs_are_whole_ = whole.bad_column < 0;
  }

  std::string complaint(const Elements& results) const {
    if (!inputs_are_whole_) return "the inputs of the proof are no small whole numbers";
    Whole whole = {.scale = scale_, .most = most_whole(results.spec(p_.out.tensor).dtype)};
    const Words got = weighted_rows(results, p_.out, p_.m, p_.n, u_, whole);
    if (whole.bad_column >= 0) return wrong_in(results, whole.bad_column);
    for (size_t col = 0; col < got.size(); ++col)
      if (got[col] != wanted_[col]) return wrong_in(results, int64_t(col));
    return "";
  }

 private:
  uint64_t factor(double x) const { return uint64_t(int64_t(x * scale_)); }

  // Which element of a column is wrong.
  std::string wrong_in(const Elements& results, int64_t col) const {
    for (int64_t row = 0; row < p_.m; ++row) {
      const int64_t index = p_.out.first + row * p_.out.row_step + col * p_.out.col_step;
      const double got = results.at(p_.out.tensor, index);
      const double truth = product_truth(p_, inputs_, row, col).value;
      if (got == truth) continue;
      char numbers[96];
      std::snprintf(numbers, sizeof numbers, " is %.9g, should be %.9g", got, truth);
      return place(results.spec(p_.out.tensor), index) + numbers + ", found by the proof";
    }
    return "column " + std::to_string(col) + " of " + results.spec(p_.out.tensor).name +
           " does not add up, though each of its elements is right: the proof itself is wrong";
  }

  Product p_;
  const Elements& inputs_;
  double scale_;
  Words u_;       // (m)
  Words wanted_;  // (n)
  bool inputs_are_whole_ = true;
};

}  // namespace

Truth product_truth(const Product& p, const Elements& inputs, int64_t row, int64_t col) {
  Truth sum;
  std::array<double, kChunk> column;
  read_line(inputs, p.a.tensor, p.a.first + row * p.a.row_step, p.a.col_step, p.k,
            [&](std::span<const double> some, int64_t at) {
              inputs.read(p.b.tensor, p.b.first + at * p.b.row_step + col * p.b.col_step,
                          p.b.row_step, std::span(column).first(some.size()));
              for (size_t i = 0; i < some.size(); ++i) {
                const double product = some[i] * column[i];
                sum.value += product;
                sum.magnitude += std::fabs(product);
              }
            });
  const MatrixIn& c = p.added();
  const int64_t index = c.first + row * c.row_step + col * c.col_step;
  const double old = p.beta != 0 ? p.beta * inputs.at(c.tensor, index) : 0;
  return {.value = p.alpha * sum.value + old,
          .magnitude = std::fabs(p.alpha) * sum.magnitude + std::fabs(old)};
}

bool fill_exactly(Workload& workload, const Product& p) {
  const auto q = binary_places(p);
  if (!q) return false;
  for (const size_t t : {p.a.tensor, p.b.tensor, p.added().tensor, p.out.tensor})
    if (!holds_inputs(workload.tensors[t].dtype)) return false;
  TensorSpec& out = workload.tensors[p.out.tensor];
  const auto fills = exact_fills(double(p.k), most_whole(out.dtype), p, *q);
  if (!fills) return false;
  for (const size_t t : {p.a.tensor, p.b.tensor, p.added().tensor, p.out.tensor}) {
    workload.tensors[t].fill = fills->fill;
    workload.tensors[t].limit = t == p.a.tensor ? fills->limit_of_a : 1;
  }
  out.rounding = out.arithmetic = 0;
  workload.exact = true;
  return true;
}

Proof product_proof(const Product& product, const Elements& inputs, uint64_t seed) {
  const auto q = binary_places(product);
  if (!q) return {};
  const auto proof = std::make_shared<ProductProof>(product, inputs, seed, *q);
  return [proof](const Elements& results) { return proof->complaint(results); };
}

}  // namespace ridge
