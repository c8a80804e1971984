// Small helpers that all of Ridge shares: text of values, multiples of a unit, mixed numbers.
#include "core/text.h"

#include <gtest/gtest.h>

#include "core/align.h"
#include "core/mix.h"

namespace ridge {
namespace {

TEST(Text, StringsOfJson) {
  EXPECT_EQ(in_quotes("a \"b\" \\c"), R"("a \"b\" \\c")");
  EXPECT_EQ(in_quotes("one\ntwo\t"), R"("one\ntwo\u0009")");
  EXPECT_EQ(in_quotes("µs"), "\"µs\"");
}

TEST(Text, Numbers) {
  EXPECT_EQ(number_text(0.5), "0.5");
  EXPECT_EQ(number_text(3), "3");
  EXPECT_EQ(hex_text(0x7f00), "0x7f00");
  EXPECT_EQ(hex_text(0x1f, 8), "0x0000001f");
}

TEST(Text, NamesBehindSymbols) {
  EXPECT_EQ(demangled("_Z4turnPf"), "turn(float*)");
  EXPECT_EQ(demangled("f"), "f");  // no type
  const std::string many(1024, 'f');  // parameters
  EXPECT_EQ(demangled("_ZN3lib4turnIfEEv" + many), "lib::turn<…>");
  EXPECT_EQ(demangled("_Z4turn" + many), "turn");
  EXPECT_EQ(demangled("_Z9999turn"), "_Z9999turn");
  EXPECT_EQ(demangled("_Z"), "_Z");
  EXPECT_EQ(own_name("_ZZ4turnPfE4tile"), "tile");
  EXPECT_EQ(own_name("tile"), "tile");
}

TEST(Align, RoundsUpToMultiples) {
  EXPECT_EQ(round_up(0, 16), 0);
  EXPECT_EQ(round_up(1, 16), 16);
  EXPECT_EQ(round_up(uint64_t(1) << 40 | 1, 512), (uint64_t(1) << 40) + 512);
  EXPECT_EQ(ceil_div(33, 32), 2);
}

TEST(Mix, IsSplitMix64) {  // the reference's first numbers from 0
  uint64_t state = 0;
  EXPECT_EQ(next_mixed(state), 0xe220a8397b1dcdafu);
  EXPECT_EQ(next_mixed(state), 0x6e789e6aa1b965f4u);
}

}  // namespace
}  // namespace ridge
