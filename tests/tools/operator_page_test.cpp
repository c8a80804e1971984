#include "operator_page.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ridge::tools {
namespace {

TEST(OperatorPage, ASingleValueHasNoBrackets) {
  OperatorEntry op;
  op.name = "sum";
  const auto tensor = [](const char* name, const char* shape) {
    return nlohmann::json{{"name", name}, {"shape", shape}, {"role", "in"}, {"layout", "any"}};
  };
  op.json = {{"dimensions", nlohmann::json::array()},
             {"tensors", {tensor("in", "rows, cols"), tensor("total", "")}},
             {"parameters", nlohmann::json::array()}};
  testing::internal::CaptureStdout();
  print_operator(FamilyEntry{}, op);
  const std::string page = testing::internal::GetCapturedStdout();
  EXPECT_NE(page.find("in[rows, cols]"), std::string::npos);
  EXPECT_NE(page.find("total"), std::string::npos);
  EXPECT_EQ(page.find("[]"), std::string::npos);
}

}  // namespace
}  // namespace ridge::tools
