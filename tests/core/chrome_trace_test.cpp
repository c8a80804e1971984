#include "core/chrome_trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace ridge {
namespace {

class ChromeTraceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const int file = mkstemp(path_.data());
    ASSERT_GE(file, 0);
    close(file);
  }
  void TearDown() override { unlink(path_.c_str()); }
  std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string path_ = ::testing::TempDir() + "ridge_chrome_XXXXXX";
  const std::string pid_ = std::to_string(getpid());
};

TEST_F(ChromeTraceTest, ASpanIsALine) {
  ChromeTrace(path_).kernel(3, {1'234'567, 1'234'600}, "_Z1kIiEvT_", {1, 2, 3}, {4, 5, 6}, 7);
  EXPECT_EQ(text(), R"_({"ph":"X","name":"void k<int>(int)","cat":"kernel","pid":)_" + pid_ +
                        R"(,"tid":3,"ts":1234.567,"dur":0.033,)"
                        R"("args":{"grid":[1,2,3],"block":[4,5,6],"dynamic shared bytes":7}},)"
                        "\n");
}

TEST_F(ChromeTraceTest, NamesAreEscaped) {
  ChromeTrace(path_).name_process("a \"b\" \\ \x01 µ");
  EXPECT_EQ(text(), R"({"ph":"M","name":"process_name","pid":)" + pid_ +
                        R"(,"args":{"name":"a \"b\" \\ \u0001 µ"}},)"
                        "\n");
}

TEST_F(ChromeTraceTest, TwoWritersShareAFile) {
  const ChromeTrace one(path_), two(path_);
  one.fill(1, {1000, 2000}, 5);
  two.fill(2, {1000, 2000}, 6);
  one.host_function(1, {3000, 4000}, "");
  EXPECT_EQ(std::ranges::count(text(), '\n'), 3);
  EXPECT_NE(text().find("\"name\":\"host function\""), std::string::npos);
}

TEST_F(ChromeTraceTest, NoFileIsNoTrace) { ChromeTrace("/nowhere/at/all").fill(1, {1, 2}, 3); }

}  // namespace
}  // namespace ridge
