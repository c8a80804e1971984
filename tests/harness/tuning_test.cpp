// Tables of constants as the library reads them.
#include "select/tuning.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ridge {
namespace {

constexpr const char* kNames[] = {"64x64", "128x128"};
constexpr TunedVariants kTuned("gemm", "tile_sizes", kNames, {{{5, 0.5, 0.25}, {6, 0.7}}});

class TuningTest : public testing::Test {
 protected:
  TuningTest() { std::filesystem::create_directories(folder_); }
  ~TuningTest() override { std::filesystem::remove_all(folder_); }

  Tuning with(const std::string& text) {
    std::ofstream(folder_ + "/gemm.json") << text;
    return Tuning::load(folder_, "NVIDIA H200", false);
  }
  static std::string table(const std::string& gpu, const std::string& constants) {
    return R"({"schema": 1, "family": "gemm", "software": false, "gpu": ")" + gpu +
           R"(", "samples": [{"us": 1, "counts": [1, 2, 3, 4]}],
              "rungs": {"tile_sizes": {"128x128": {"constants": )" +
           constants + "}}}}";
  }

  std::string folder_ = testing::TempDir() + "ridge_tuning_test";
};

TEST_F(TuningTest, ConstantsOfTheTableComeFirst) {
  const Tuning tuning = with(table("NVIDIA H200", "[1, 2, 3, 4]"));
  ASSERT_TRUE(tuning.problems().empty()) << tuning.problems().front();
  ASSERT_EQ(tuning.files().size(), 1u);
  DeviceInfo device;
  EXPECT_EQ(kTuned.of(device, 1), (Constants{6, 0.7}));
  device.tuning = &tuning;
  EXPECT_EQ(kTuned.of(device, 1), (Constants{1, 2, 3, 4}));
  EXPECT_EQ(kTuned.of(device, 0), (Constants{5, 0.5, 0.25}));  // the table does not have it
}

TEST_F(TuningTest, BadTablesAreToldAndLeftOut) {
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {"{", "parse error"},
           {"[]", "type"},
           {table("NVIDIA B200", "[1, 2, 3, 4]"), "it was made on NVIDIA B200, and this is"},
           {table("NVIDIA H200", "[1, 2, 3]"), "3 constants and not 4"},
           {table("NVIDIA H200", "[1, 2, 3, -4]"), "negative"}}) {
    const Tuning tuning = with(text);
    EXPECT_TRUE(tuning.empty()) << text;
    ASSERT_EQ(tuning.problems().size(), 1u) << text;
    EXPECT_NE(tuning.problems().front().find(why), std::string::npos) << tuning.problems().front();
    EXPECT_NE(tuning.problems().front().find("gemm.json is not used"), std::string::npos);
  }
}

TEST_F(TuningTest, WithoutAFolderThereIsNothing) {
  const Tuning tuning = Tuning::load(folder_ + "/none", "NVIDIA H200", false);
  EXPECT_TRUE(tuning.empty() && tuning.problems().empty());
}

TEST(TuningFolder, TheSoftwareGpuHasItsOwn) {
  EXPECT_TRUE(tuning_folder("NVIDIA H200", false).ends_with("/ridge/tuning/nvidia-h200"));
  EXPECT_TRUE(tuning_folder("NVIDIA H200", true).ends_with("/ridge/tuning/nvidia-h200-software"));
}

}  // namespace
}  // namespace ridge
