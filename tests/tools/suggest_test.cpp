#include "suggest.h"

#include <gtest/gtest.h>

namespace ridge::tools {
namespace {

TEST(Suggest, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "run"), 3);
  EXPECT_EQ(edit_distance("device", "device"), 0);
  EXPECT_EQ(edit_distance("devise", "device"), 1);
  EXPECT_EQ(edit_distance("dveice", "device"), 1);  // neighbours swapped
  EXPECT_EQ(edit_distance("clim", "climb"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Suggest, NamesTheNearestOrNothing) {
  EXPECT_EQ(did_you_mean("rtx409", {"h200", "rtx4090", "rtx3090"}), ". Did you mean 'rtx4090'?");
  EXPECT_EQ(did_you_mean("zzzz", {"run", "climb"}), ".");
  EXPECT_EQ(did_you_mean("run", {}), ".");
}

}  // namespace
}  // namespace ridge::tools
