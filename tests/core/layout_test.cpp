// The laws of the layout algebra, on layouts that are drawn at random, and examples by hand.
#include "core/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/layout_text.h"
#include "core/mix.h"

namespace ridge::layouts {
namespace {

Layout parsed(const char* text) {
  const auto layout = parse_layout(text);
  EXPECT_TRUE(layout) << text << ": " << layout.error().message;
  return layout ? *layout : Layout();
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  int64_t below(int64_t n) { return int64_t(next_mixed(state_) % uint64_t(n)); }

  // Sizes and strides that often fit together, and sometimes do not.
  Layout layout() {
    Layout made;
    const int64_t rank = 1 + below(3);
    for (int64_t m = 0; m < rank; ++m) {
      made.begin_mode();
      const int64_t parts = 1 + below(2);
      for (int64_t p = 0; p < parts; ++p)
        made.add({kSizes[size_t(below(6))], kStrides[size_t(below(8))]});
    }
    return made;
  }
  // Every offset from 0 to size - 1 once, in some order of modes.
  Layout bijection() {
    std::vector<Part> parts;
    int64_t stride = 1;
    for (int64_t p = 1 + below(4); p > 0; --p) {
      const int64_t size = kSizes[size_t(1 + below(5))];
      parts.push_back({size, stride});
      stride *= size;
    }
    for (size_t i = parts.size(); i > 1; --i)
      std::swap(parts[i - 1], parts[size_t(below(int64_t(i)))]);
    Layout made;
    for (const Part& part : parts) made.append(Layout(part.size, part.stride));
    return made;
  }

 private:
  static constexpr int64_t kSizes[] = {1, 2, 3, 4, 6, 8};
  static constexpr int64_t kStrides[] = {0, 1, 2, 3, 4, 8, 12, 32};
  uint64_t state_;
};

std::vector<int64_t> offsets(const Layout& layout) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < layout.size(); ++i) all.push_back(layout(i));
  return all;
}

// How many different offsets there are.
int64_t distinct_offsets(const Layout& layout) {
  const auto all = offsets(layout);
  return int64_t(std::set(all.begin(), all.end()).size());
}

constexpr int kRounds = 500;

TEST(Layout, IsAFunctionOfCoordinatesAndOfAnIndex) {
  const Layout layout = parsed("((4,2),8):((1,32),4)");
  EXPECT_EQ(layout.size(), 64);
  EXPECT_EQ(layout.size(0), 8);
  EXPECT_EQ(layout.cosize(), 3 + 32 + 28 + 1);
  EXPECT_EQ(layout(5, 3), 1 + 32 + 12);
  for (int64_t j = 0; j < 8; ++j)
    for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(layout(i + 8 * j), layout(i, j));
}

TEST(Layout, CosizeIsOneMoreThanTheLargestOffset) {
  Random random(1);
  for (int round = 0; round < kRounds; ++round) {
    const Layout layout = random.layout();
    const auto all = offsets(layout);
    ASSERT_EQ(layout.cosize(), *std::max_element(all.begin(), all.end()) + 1) << text_of(layout);
  }
}

TEST(Layout, CoalesceKeepsTheFunction) {
  Random random(2);
  for (int round = 0; round < kRounds; ++round) {
    const Layout layout = random.layout(), merged = coalesce(layout);
    ASSERT_EQ(offsets(merged), offsets(layout)) << text_of(layout) << " became " << text_of(merged);
    ASSERT_LE(merged.parts(), layout.parts());
    ASSERT_EQ(coalesce(merged), merged);
    for (int p = 0; p + 1 < merged.parts(); ++p)
      ASSERT_NE(merged.part(p + 1).stride, merged.part(p).size * merged.part(p).stride)
          << text_of(merged) << " could have fewer parts";
  }
  EXPECT_EQ(coalesce(parsed("(2,(1,6)):(1,(6,2))")), Layout(12, 1));
}

TEST(Layout, ComposeIsOneFunctionAfterTheOther) {
  Random random(3);
  int composed = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Layout outer = random.layout(), inner = random.layout();
    if (!can_compose(outer, inner)) continue;
    ++composed;
    const Layout both = compose(outer, inner);
    ASSERT_EQ(both.rank(), inner.rank());
    for (int m = 0; m < both.rank(); ++m) ASSERT_EQ(both.size(m), inner.size(m));
    for (int64_t i = 0; i < inner.size(); ++i)
      ASSERT_EQ(both(i), outer(inner(i)))
          << text_of(outer) << " o " << text_of(inner) << " = " << text_of(both) << " at " << i;
  }
  EXPECT_GT(composed, kRounds / 20);
  EXPECT_FALSE(can_compose(parsed("(4,2):(1,8)"), Layout(3, 3)));           // 4 is no multiple of 3
  EXPECT_FALSE(can_compose(parsed("(4,2):(1,8)"), parsed("(3,3):(1,1)")));  // 2 + 2 carries
  EXPECT_FALSE(can_compose(Layout(4, 1), Layout(8, 1)));                    // beyond the end
  EXPECT_EQ(compose(parsed("(6,2):(8,2)"), parsed("(4,3):(3,1)")), parsed("((2,2),3):((24,2),8)"));
}

TEST(Layout, ComplementFillsTheGaps) {
  Random random(4);
  int found = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Layout layout = random.layout();
    const int64_t size = 1 + random.below(200);
    if (!has_complement(layout, size)) continue;
    const Layout rest = complement(layout, size);
    // With the parts that repeat an offset left out, both together hit every offset once.
    Layout distinct;
    distinct.begin_mode();
    for (int p = 0; p < layout.parts(); ++p)
      if (layout.part(p).stride > 0) distinct.add(layout.part(p));
    ++found;
    const auto both = offsets(joined(distinct, rest));
    ASSERT_EQ(std::set(both.begin(), both.end()).size(), both.size())
        << text_of(layout) << " and " << text_of(rest) << " overlap";
    ASSERT_EQ(*std::max_element(both.begin(), both.end()) + 1, int64_t(both.size()))
        << text_of(layout) << " and " << text_of(rest) << " leave gaps";
    ASSERT_GE(int64_t(both.size()), size);
  }
  EXPECT_GT(found, kRounds / 10);
  EXPECT_EQ(complement(Layout(4, 2), 24), parsed("(2,3):(1,8)"));
}

TEST(Layout, DivideOnlyReorders) {
  Random random(5);
  int divided = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Layout layout = random.bijection(), tile = random.layout();
    if (!can_divide(layout, tile) || tile.size() != distinct_offsets(tile)) continue;
    ++divided;
    const Layout parts = divide(layout, tile);
    ASSERT_EQ(parts.rank(), 2);
    ASSERT_EQ(parts.size(0), tile.size());
    auto all = offsets(parts);
    for (int64_t i = 0; i < tile.size(); ++i) ASSERT_EQ(parts(i, 0), layout(tile(i)));
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], int64_t(i)) << text_of(parts);
  }
  EXPECT_GT(divided, kRounds / 50);
}

TEST(Layout, TiledWalksTileByTile) {
  constexpr Layout kMatrix = row_major(8, 12);
  constexpr Layout kTiles = tiled(kMatrix, Layout(4, 1), Layout(3, 1));
  static_assert(kTiles.size(0) == 12 && kTiles.size(1) == 8);
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < 12; ++j) {
      const int64_t inside = i % 4 + j % 3 * 4, which = i / 4 + j / 3 * 2;
      EXPECT_EQ(kTiles(inside, which), kMatrix(i, j));
    }
}

TEST(Layout, ProductRepeatsWithoutOverlap) {
  Random random(6);
  for (int round = 0; round < kRounds; ++round) {
    const Layout tile = random.bijection(), by = random.bijection();
    if (!has_complement(tile, tile.size() * by.cosize())) continue;
    const Layout all = product(tile, by);
    for (int64_t i = 0; i < tile.size(); ++i) ASSERT_EQ(all(i, 0), tile(i));
    auto seen = offsets(all);
    std::sort(seen.begin(), seen.end());
    for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], int64_t(i)) << text_of(all);
  }
  EXPECT_EQ(product(parsed("(2,2):(4,1)"), Layout(6, 1)), parsed("((2,2),(2,3)):((4,1),(2,8))"));
}

TEST(Swizzle, ExchangesPlacesAndUndoesItself) {
  for (const Swizzle& s : {kSwizzle128, kSwizzle64, kSwizzle32, Swizzle{2, 0, 5}}) {
    const int64_t all = int64_t(1) << (s.base + s.shift + s.bits);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < all; ++i) {
      EXPECT_EQ(s(s(i)), i);
      EXPECT_EQ(s(i) >> (s.base + s.bits), i >> (s.base + s.bits));
      EXPECT_EQ(s(i) & ((1 << s.base) - 1), i & ((1 << s.base) - 1));
      seen.insert(s(i));
    }
    EXPECT_EQ(int64_t(seen.size()), all);
  }
  // Chunk c of row r lies at c ^ r % 8, as tensor maps have it.
  for (int64_t r = 0; r < 16; ++r)
    for (int64_t c = 0; c < 8; ++c)
      EXPECT_EQ(kSwizzle128(128 * r + 16 * c), 128 * r + 16 * (c ^ r % 8));
}

TEST(LayoutText, ReadsWhatItWrites) {
  Random random(7);
  for (int round = 0; round < kRounds; ++round) {
    const Layout layout = random.layout();
    const auto again = parse_layout(text_of(layout));
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(*again, layout) << text_of(layout);
  }
  EXPECT_EQ(text_of(parsed("( (4, 2), 8 ) : ((1,32),4)")), "((4,2),8):((1,32),4)");
  EXPECT_EQ(text_of(parsed("(4,8)")), "(4,8):(1,4)");
  EXPECT_EQ(text_of(parsed("(((2,2),2),8):(((1,2),4),8)")), "((2,2,2),8):((1,2,4),8)");
  EXPECT_EQ(text_of(parsed("12")), "12:1");
}

TEST(LayoutText, SaysWhatIsWrongAndWhere) {
  const auto message = [](const char* text) {
    const auto layout = parse_layout(text);
    return layout ? std::string("fine") : layout.error().message;
  };
  EXPECT_EQ(message(""), "a number or a '(' is missing, at character 1 of ''");
  EXPECT_EQ(message("(4,8:(1,4)"), "a ',' or a ')' is missing, at character 5 of '(4,8:(1,4)'");
  EXPECT_EQ(message("(4,8):(1,4) x"),
            "there is more than a layout, at character 13 of '(4,8):(1,4) x'");
  EXPECT_EQ(message("(4,8):(1,(4,2))"),
            "shape and strides of '(4,8):(1,(4,2))' have different parentheses");
  EXPECT_EQ(message("(4,0)"), "a size is 0; it has to be at least 1");
  EXPECT_EQ(message("(4,8):(1,-4)"), "a stride is -4; it has to be from 0 to 2^40");
  EXPECT_EQ(message("(1099511627776,2)"), "the layout has more than 2^40 elements");
  EXPECT_EQ(message("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), "a layout has at most 16 numbers");
  EXPECT_TRUE(parse_swizzle("3,4,3"));
  for (const char* text : {"3,4", "3,4,3,1", "a", "3,4,(3)", "3,4,2", "-1,4,3", "3,4,33"})
    EXPECT_FALSE(parse_swizzle(text)) << text;
}

}  // namespace
}  // namespace ridge::layouts
