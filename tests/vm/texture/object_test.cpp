// Handles, and where surface accesses land.
#include "vm/texture/object.h"

#include <gtest/gtest.h>

#include "picture.h"
#include "vm/texture/surface.h"

namespace ridge::vm::texture {
namespace {

TEST(Objects, AHandleIsNeverGivenTwice) {
  Objects objects;
  const uint64_t first = objects.add({});
  EXPECT_TRUE(objects.find(first));
  const uint64_t epoch = objects.epoch();
  EXPECT_FALSE(objects.destroy(first, Object::Kind::surface));
  EXPECT_TRUE(objects.destroy(first, Object::Kind::texture));
  EXPECT_FALSE(objects.destroy(first, Object::Kind::texture));
  EXPECT_NE(objects.epoch(), epoch);
  EXPECT_FALSE(objects.find(first));
  const uint64_t second = objects.add({});
  EXPECT_NE(second, first);
  EXPECT_NE(objects.explain(first, Object::Kind::texture).find("destroyed"), std::string::npos);
  EXPECT_NE(objects.explain(0, Object::Kind::texture).find("ever created"), std::string::npos);
  EXPECT_NE(objects.explain(second, Object::Kind::surface).find("is a texture object"),
            std::string::npos);
}

TEST(Surface, OutsideIsNullOrTheNearestPlace) {
  Picture p({Channel::uint, 32, 1}, 2, 8, 4, 1, 3);
  const Image& image = p.object.image;
  const Level& level = image.levels[0];
  const auto at = [&](int64_t byte, int64_t y, uint32_t layer, Outside outside) {
    return locate(image, {.byte = byte, .y = y, .layer = layer, .bytes = 4}, outside);
  };
  EXPECT_EQ(at(28, 3, 2, Outside::trap), level.at(28, 3, 2));
  for (const Outside outside : {Outside::trap, Outside::zero}) {
    EXPECT_EQ(at(32, 0, 0, outside), nullptr);
    EXPECT_EQ(at(30, 0, 0, outside), nullptr);
    EXPECT_EQ(at(-4, 0, 0, outside), nullptr);
    EXPECT_EQ(at(0, 4, 0, outside), nullptr);
    EXPECT_EQ(at(0, -1, 0, outside), nullptr);
    EXPECT_EQ(at(0, 0, 3, outside), nullptr);
  }
  EXPECT_EQ(at(400, -3, 9, Outside::clamp), level.at(28, 0, 2));
  EXPECT_EQ(at(-400, 9, 1, Outside::clamp), level.at(0, 3, 1));
}

}  // namespace
}  // namespace ridge::vm::texture
