#include "harness/inputs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <set>

#include "core/number.h"
#include "fake_ladder.h"
#include "harness/convert.h"
#include "harness/samples.h"

namespace ridge::harness {
namespace {

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

const Dtype kConverted[] = {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::i32, Dtype::u8};

TEST(Convert, EveryPatternOfTwoBytesIsReadAsOneByOne) {
  std::vector<uint16_t> patterns(1 << 16);
  for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = uint16_t(i);
  std::vector<double> values(patterns.size());
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    load_all(dtype, patterns.data(), 0, 1, values);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_TRUE(same(values[i], decode(dtype, i))) << name_of(dtype) << " pattern " << i;
  }
}

// Every number of two bytes, the middle between it and the next, and what lies just beside that:
// where rounding decides.
TEST(Convert, RoundsAsOneByOne) {
  for (const Dtype narrow : {Dtype::f16, Dtype::bf16}) {
    std::vector<double> values;
    for (unsigned i = 0; i < 1 << 16; ++i) {
      const double x = decode(narrow, i), next = decode(narrow, i + 1);
      const double middle = (x + next) / 2;
      for (const double y : {x, middle, std::nextafter(middle, 0), std::nextafter(middle, 1e300)})
        values.push_back(y);
    }
    values.insert(values.end(), {0.0, -0.0, 1e300, -1e300, 1e-300, INFINITY, -INFINITY, NAN});
    for (const Dtype dtype : kConverted) {
      std::vector<double> all = values;
      round_all(dtype, all);
      std::vector<char> stored(bytes_for(dtype, int64_t(values.size()) + 1));
      store_all(dtype, stored.data(), 1, values);
      for (size_t i = 0; i < values.size(); ++i) {
        const double wanted = rounded(dtype, values[i]);
        ASSERT_TRUE(same(all[i], wanted)) << name_of(dtype) << " of " << values[i];
        ASSERT_TRUE(same(load(dtype, stored.data(), int64_t(i) + 1), wanted))
            << name_of(dtype) << " of " << values[i];
      }
    }
  }
}

Workload one_tensor(TensorSpec spec) { return {.tensors = {std::move(spec)}, .cost = {}}; }

const Fill kFills[] = {Fill::uniform, Fill::positive, Fill::spread, Fill::small_ints, Fill::counted,
                       Fill::signs,   Fill::index,    Fill::bytes,  Fill::zero};

TEST(MadeInputs, AreTheSameHoweverTheyAreRead) {
  FakeLadder ladder;
  for (const bool structured : {false, true}) {
    if (structured)
      ladder.input_of = [](size_t, int64_t index) {
        return index % 3 == 0 ? std::optional(double(index % 50)) : std::nullopt;
      };
    for (const Dtype dtype : kConverted)
      for (const Fill fill : kFills)
        for (const bool specials : {false, true}) {
          const Workload w = one_tensor(
              {.name = "x", .dtype = dtype, .shape = {300'000}, .fill = fill, .limit = 7});
          const Case c = {.seed = 5, .specials = specials};
          const MadeInputs made(ladder, c, w);
          const std::vector<double> all = make_inputs(ladder, c, w).front().values;
          std::vector<double> some(500);
          made.read(0, 11, 577, some);
          for (size_t i = 0; i < some.size(); ++i) {
            ASSERT_TRUE(same(some[i], all[11 + i * 577]));
            ASSERT_TRUE(same(some[i], made.at(0, int64_t(11 + i * 577))));
          }
          if (specials) continue;
          const std::vector<char> bytes = input_bytes(ladder, c, w, 0, 200'000);
          for (size_t i = 0; i < 200'000; i += 13)
            ASSERT_TRUE(same(load(dtype, bytes.data(), int64_t(i)), all[i]));
        }
  }
}

// Numbers that records and other languages depend on.
TEST(MadeInputs, AreWhatTheyAlwaysWere) {
  const Workload w = one_tensor({.name = "x", .shape = {4}});
  const FakeLadder ladder;
  const std::vector<double> values = make_inputs(ladder, {.seed = 1}, w).front().values;
  const float wanted[] = {-0.6387683153152466f, -0.37278416752815247f, -0.24577976763248444f,
                          -0.43279024958610535f};
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(float(values[i]), wanted[i]);
}

TEST(MadeInputs, SignsAreAsSparseAsTheyShould) {
  for (const int64_t limit : {0, 1, 2, 33}) {
    const Workload w =
        one_tensor({.name = "x", .shape = {100'000}, .fill = Fill::signs, .limit = limit});
    double sum = 0, others = 0;
    const FakeLadder ladder;
    const std::vector<HostTensor> made = make_inputs(ladder, {.seed = 1}, w);
    for (const double x : made.front().values) {
      ASSERT_TRUE(x == -1 || x == 0 || x == 1);
      sum += x;
      others += x != 0;
    }
    EXPECT_NEAR(others, 100'000.0 / double(std::max<int64_t>(limit, 1)), 500);
    EXPECT_NEAR(sum, 0, 1500);
  }
}

TEST(Samples, AreAllWhereThereAreFew) {
  EXPECT_EQ(sampled_indices(std::vector<int64_t>{3, 4}, 12, 1).size(), 12u);
  EXPECT_EQ(sampled_indices(std::vector<int64_t>{}, 12, 1).size(), 1u);
  EXPECT_EQ(sampled_indices(std::vector<int64_t>{5, 0}, 12, 1).size(), 0u);
}

TEST(Samples, HoldCornersEdgesAndTilesAndAreSeeded) {
  const std::vector<int64_t> shape = {3000, 5000};
  const auto indices = sampled_indices(shape, 4000, 1);
  EXPECT_EQ(indices, sampled_indices(shape, 4000, 1));
  EXPECT_NE(indices, sampled_indices(shape, 4000, 2));
  EXPECT_LE(indices.size(), 4000u);
  EXPECT_GE(indices.size(), 3900u);
  const std::set<int64_t> seen(indices.begin(), indices.end());
  EXPECT_EQ(seen.size(), indices.size());
  for (const int64_t corner : {0, 4999, 2999 * 5000, 2999 * 5000 + 4999})
    EXPECT_TRUE(seen.contains(corner)) << corner;
  int edges = 0, tiles = 0;
  for (const int64_t i : indices) {
    ASSERT_TRUE(i >= 0 && i < 3000 * 5000);
    const int64_t row = i / 5000, col = i % 5000;
    edges += row == 0 || row == 2999 || col == 0 || col == 4999;
    tiles += (row + 1) % 16 <= 2 || (col + 1) % 16 <= 2;
  }
  EXPECT_GE(edges, 1000);
  EXPECT_GE(tiles, 1300);
}

TEST(Samples, OfAVectorAreNotAllItsEnds) {
  EXPECT_GE(sampled_indices(std::vector<int64_t>{1 << 20}, 1000, 1).size(), 990u);
}

}  // namespace
}  // namespace ridge::harness
