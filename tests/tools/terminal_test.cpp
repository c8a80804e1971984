#include "terminal.h"

#include <gtest/gtest.h>

namespace ridge::tools {
namespace {

TEST(Terminal, GroupsDigits) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1000), "1,000");
  EXPECT_EQ(thousands(18446744073709551615ull), "18,446,744,073,709,551,615");
}

TEST(Terminal, WritesBytesWithUnits) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(228 * 1024), "228 KiB");
  EXPECT_EQ(bytes(3ll << 29), "1.5 GiB");
}

TEST(Terminal, AlignsByCharactersNotBytesOrColours) {
  set_color(true);
  const std::string painted = green("ok");
  EXPECT_NE(painted, "ok");
  EXPECT_EQ(table({{painted, "1"}, {"été", "20"}, {"", "3"}}, {Align::left, Align::right}),
            painted + "    1\nété  20\n      3\n");
  set_color(false);
  EXPECT_EQ(green("ok"), "ok");
}

TEST(Terminal, WritesTimesWithThreeDigits) {
  EXPECT_EQ(time_text(3.14159), "3.14 µs");
  EXPECT_EQ(time_text(31.4159), "31.4 µs");
  EXPECT_EQ(time_text(3141.59), "3.14 ms");
}

TEST(Terminal, KnowsTheWidthOfATable) {
  const std::vector<std::vector<std::string>> rows = {{"a", "bc"}, {"été", "d"}};
  EXPECT_EQ(table_width(rows), 7);  // 3, 2 between them, 2
  EXPECT_EQ(table_width(rows, "  "), 9);
  EXPECT_EQ(table_width({}), 0);
}

}  // namespace
}  // namespace ridge::tools
