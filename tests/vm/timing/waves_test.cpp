// Which blocks run if only a kernel's time is wanted.
#include "vm/timing/waves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace ridge::vm::timing {
namespace {

using Blocks = std::vector<uint64_t>;

constexpr uint64_t kSms = 4, kWave = 8, kMany = 800;  // two blocks per SM, 100 waves

// A launch: what was chosen so far, and how many instructions each whole block had.
struct Launch {
  Waves waves;
  std::vector<float> issued;
  std::vector<float> of_block;  // what it takes
  std::set<uint64_t> ran;

  explicit Launch(uint64_t blocks, bool may_wait = false, float each = 10000)
      : waves(blocks, kWave, kSms, may_wait), issued(blocks), of_block(blocks, each) {}
  // Runs the next ones, which are in order and new.
  Blocks next(bool enough = false) {
    const Blocks chosen = waves.next(enough, issued);
    for (size_t i = 0; i < chosen.size(); ++i) {
      EXPECT_TRUE(i == 0 || chosen[i - 1] < chosen[i]) << chosen[i];
      EXPECT_LT(chosen[i], issued.size());
      EXPECT_TRUE(ran.insert(chosen[i]).second) << chosen[i] << " runs twice";
      if (waves.is_whole(chosen[i])) issued[chosen[i]] = of_block[chosen[i]];
    }
    return chosen;
  }
};
Blocks range(uint64_t from, uint64_t end) {
  Blocks all(end - from);
  std::iota(all.begin(), all.end(), from);
  return all;
}

TEST(Waves, FirstTheBlocksOfOneSm) {
  Launch launch(kMany);
  const uint64_t second = block_of_sm(1, kSms, kMany);
  EXPECT_TRUE(second >= 4 && second < 8) << second;
  EXPECT_EQ(launch.next(), (Blocks{0, second}));
  EXPECT_TRUE(launch.waves.is_following());
  EXPECT_EQ(launch.waves.end(), 0u);
  EXPECT_TRUE(launch.waves.is_whole(0) && launch.waves.is_whole(second));
  EXPECT_FALSE(launch.waves.is_whole(1));
}

TEST(Waves, ThenSomeFromAllOverTheGrid) {
  Launch launch(kMany);
  launch.next();
  const Blocks spread = launch.next();
  EXPECT_FALSE(launch.waves.is_following());
  EXPECT_GT(spread.size(), 100u);
  EXPECT_LE(spread.size(), 128u);
  for (uint64_t part = 0; part < 10; ++part) {  // as many from each part
    const auto in =
        std::ranges::count_if(spread, [&](uint64_t block) { return block / (kMany / 10) == part; });
    EXPECT_NEAR(double(in), double(spread.size()) / 10, 3) << part;
  }
  for (const uint64_t block : spread) EXPECT_TRUE(launch.waves.is_whole(block));
}

// Not all at the same place of their part: blocks often repeat with a period.
TEST(Waves, TheSpreadHasNoPeriod) {
  Launch launch(128 * 64);
  launch.next();
  std::set<uint64_t> places;
  for (const uint64_t block : launch.next()) places.insert(block % 64);
  EXPECT_GT(places.size(), 30u);
}

// Every second block, or every fourth one, may have other work: one SM has all kinds.
TEST(Waves, TheBlocksOfOneSmHaveNoPeriod) {
  std::set<uint64_t> places;
  for (uint64_t turn = 0; turn < 64; ++turn) {
    const uint64_t block = block_of_sm(turn, 132, 64 * 132);
    EXPECT_EQ(block / 132, turn);
    places.insert(block % 4);
  }
  EXPECT_EQ(places.size(), 4u);
  EXPECT_EQ(block_of_sm(1, 132, 133), 132u);  // there is no other one
}

// The next launch may go by what this one writes.
TEST(Waves, ALaunchOfFewInstructionsRunsCompletely) {
  Launch launch(kMany, false, 100);
  for (int i = 0; i < 3; ++i) launch.next();
  EXPECT_EQ(launch.ran.size(), kMany);
  EXPECT_EQ(launch.waves.end(), kMany);
  for (uint64_t block = 0; block < kMany; ++block) EXPECT_TRUE(launch.waves.is_whole(block));
  EXPECT_TRUE(launch.next().empty());
}

TEST(Waves, LongBlocksAreSpreadLess) {
  Launch launch(kMany, false, 1e5f);
  launch.next();
  EXPECT_LE(launch.next().size(), 20u);
  Launch longest(kMany, false, 1e9f);
  longest.next();
  const Blocks two = longest.next();
  EXPECT_GE(two.size(), 1u);
  EXPECT_LE(two.size(), 2u);
}

TEST(Waves, ThenThoseOfTheTypicalWave) {
  Launch launch(kMany);
  launch.next(), launch.next();
  const uint64_t spread = launch.ran.size();
  const Blocks typical = launch.next();
  EXPECT_NEAR(double(launch.waves.second()), 50, 3);  // of 100 equal ones
  EXPECT_EQ(launch.ran.size(), spread + typical.size());
  for (const uint64_t block : typical) {
    EXPECT_EQ(block / kWave, launch.waves.second());
    EXPECT_EQ(block, block_of_sm(block / kSms, kSms, kMany));
    EXPECT_TRUE(launch.waves.is_whole(block));
  }
  // All that the SM has of it have run by now.
  for (uint64_t turn = 0; turn < kWave / kSms; ++turn) {
    const uint64_t first = launch.waves.second() * kWave / kSms;
    EXPECT_TRUE(launch.ran.contains(block_of_sm(first + turn, kSms, kMany))) << turn;
  }
}

TEST(Waves, TheTypicalWaveIsWhereHalfOfTheWorkLies) {
  Launch late(kMany);
  for (uint64_t block = 0; block < kMany; ++block) late.of_block[block] = float(100 + 100 * block);
  late.next(), late.next(), late.next();
  EXPECT_NEAR(double(late.waves.second()), 70.7, 4);  // the square root of a half
  Launch early(kMany);
  for (uint64_t block = 0; block < kMany; ++block)
    early.of_block[block] = block < 160 ? 18000 : 2000;  // 144 before, 64 after
  early.next(), early.next(), early.next();
  EXPECT_NEAR(double(early.waves.second()), 20 * 104 / 144., 3);
}

TEST(Waves, ThenWholeWavesUntilItIsEnough) {
  Launch launch(kMany);
  for (int i = 0; i < 3; ++i) launch.next();
  const std::set<uint64_t> before = launch.ran;
  const auto expected = [&](uint64_t wave) {
    Blocks all = range(wave * kWave, (wave + 1) * kWave);
    std::erase_if(all, [&](uint64_t block) { return before.contains(block); });
    return all;
  };
  EXPECT_EQ(launch.next(false), expected(0));
  EXPECT_EQ(launch.waves.end(), kWave);
  EXPECT_EQ(launch.next(false), expected(1));
  EXPECT_EQ(launch.waves.end(), 2 * kWave);
  EXPECT_FALSE(launch.waves.is_whole(expected(1).front()));
  EXPECT_TRUE(launch.next(true).empty());
  EXPECT_EQ(launch.waves.end(), 2 * kWave);
}

TEST(Waves, WithoutEnoughAllRunOnce) {
  Launch launch(kMany);
  for (int i = 0; i < 200 && !launch.next().empty(); ++i)
    ;
  EXPECT_EQ(launch.ran.size(), kMany);
  EXPECT_EQ(launch.waves.end(), kMany);
}

TEST(Waves, FewBlocksAllRunOnce) {
  for (uint64_t blocks = 1; blocks <= 2 * kWave + 1; ++blocks) {
    Launch launch(blocks);
    for (int i = 0; i < 20 && !launch.next().empty(); ++i)
      ;
    EXPECT_EQ(launch.ran.size(), blocks);
    EXPECT_EQ(launch.waves.end(), blocks);
    EXPECT_FALSE(launch.waves.runs_all());
  }
}

TEST(Waves, OneBlockIsThereAtOnce) {
  Launch launch(1);
  EXPECT_EQ(launch.next(), Blocks{0});
  EXPECT_TRUE(launch.next().empty());
  EXPECT_EQ(launch.waves.second(), 0u);
  EXPECT_EQ(launch.waves.end(), 1u);
}

// Who waits for earlier blocks needs all of them, to their end.
TEST(Waves, WhoMayWaitHasItsFirstWaves) {
  Launch launch(kMany, true);
  EXPECT_FALSE(launch.waves.runs_all());
  EXPECT_EQ(launch.waves.second(), 1u);
  EXPECT_EQ(launch.next(true), range(0, kWave));
  EXPECT_FALSE(launch.waves.is_following());
  EXPECT_EQ(launch.next(true), range(kWave, 2 * kWave));  // two at least
  EXPECT_TRUE(launch.waves.is_whole(kWave + 1));
  EXPECT_TRUE(launch.next(true).empty());
  EXPECT_EQ(launch.next(false), range(2 * kWave, 3 * kWave));
  EXPECT_TRUE(launch.next(true).empty());
}

TEST(Waves, FewThatMayWaitAllRun) {
  Launch launch(2 * kWave, true);
  EXPECT_TRUE(launch.waves.runs_all());
  EXPECT_TRUE(launch.next().empty());
  EXPECT_EQ(launch.waves.end(), 2 * kWave);
  EXPECT_FALSE(Launch(2 * kWave + 1, true).waves.runs_all());
}

TEST(Waves, GapsAreLikeTheBlockBefore) {
  std::vector<float> of_block = {3, 0, 0, 5, 0, 1, 0};
  Launch(of_block.size()).waves.fill_gaps(of_block);
  EXPECT_EQ(of_block, (std::vector<float>{3, 3, 3, 5, 5, 1, 1}));
  std::vector<float> none;
  Launch(1).waves.fill_gaps(none);
  EXPECT_TRUE(none.empty());
}

// Blocks so long that only two of them run: one of each half, somewhere in it.
TEST(Waves, GapsAreLikeTheBlockOfTheirPart) {
  Launch launch(2 * kWave, false, 3e6f);
  std::fill(launch.of_block.begin() + kWave, launch.of_block.end(), 1e6f);
  launch.next();
  launch.next();
  EXPECT_LT(std::ranges::count_if(launch.issued, [](float x) { return x > 0; }), 6);
  launch.waves.fill_gaps(launch.issued);
  EXPECT_EQ(launch.issued, launch.of_block);
}

}  // namespace
}  // namespace ridge::vm::timing
