// The roof of a climb: what memory and arithmetic allow.
#include <gtest/gtest.h>

#include "climb_record.h"
#include "measure_gpu.h"
#include "model/roofs.h"

namespace ridge::tools {
namespace {

Climb climb_of(double bytes, double flops, const char* unit, const char* arithmetic = "") {
  Climb climb;
  climb.read = climb.written = bytes / 2;
  climb.flops = flops;
  climb.unit = unit;
  climb.arithmetic = arithmetic;
  return climb;
}

ladders::RoofsAnswer memory(double copy, double other) {
  ladders::RoofsAnswer roofs;
  roofs.copy = copy;
  roofs.read = roofs.write = other;
  return roofs;
}

TEST(ClimbRoof, IsTheLongerOfMemoryAndArithmetic) {
  ladders::RoofsAnswer roofs = memory(1e12, 2e12);
  roofs.operations = {{"f32", 1e13}, {"integer", 1e12}};
  const ClimbFloor copy = floor_for(climb_of(1e9, 1e6, "GB/s"), roofs);
  EXPECT_DOUBLE_EQ(copy.us, 1000);
  EXPECT_EQ(copy.by, "memory");
  const ClimbFloor floats = floor_for(climb_of(1e6, 1e10, "GFLOP/s"), roofs);
  EXPECT_DOUBLE_EQ(floats.us, 1000);
  EXPECT_EQ(floats.by, "f32");
  const ClimbFloor integers = floor_for(climb_of(1e6, 1e10, "GOP/s", "integer"), roofs);
  EXPECT_DOUBLE_EQ(integers.us, 10000);
  EXPECT_EQ(integers.by, "integer");
  EXPECT_DOUBLE_EQ(integers.rate, 1e12);
}

// Old records have no peaks: memory alone would flatter a ladder of arithmetic.
TEST(ClimbRoof, IsUnknownWithoutThePeakOfItsArithmetic) {
  const ladders::RoofsAnswer roofs = memory(1e12, 2e12);
  EXPECT_EQ(floor_for(climb_of(1e9, 1e12, "GFLOP/s"), roofs).us, 0);
  EXPECT_EQ(floor_for(climb_of(1e9, 1e12, "GB/s"), roofs).us, 1000);
  EXPECT_EQ(floor_for(climb_of(1e9, 1e12, "GB/s"), {}).us, 0);
}

TEST(ClimbRoof, WhatWasMeasuredStays) {
  ladders::RoofsAnswer measured = memory(1, 2), none;
  add_roofs_of(*find_gpu("h200"), measured);
  add_roofs_of(*find_gpu("t4"), none);
  EXPECT_EQ(measured.copy, 1);
  EXPECT_FALSE(measured.unchecked);
  EXPECT_TRUE(none.unchecked);
  EXPECT_EQ(none.copy, model::roofs_of(*find_gpu("t4")).copy);
  for (const std::string_view kind : kArithmeticNames)
    EXPECT_GT(measured.operations.at(std::string(kind)), none.operations.at(std::string(kind)));
}

TEST(ClimbRoof, AMeasuredCardGetsAShortName) {
  EXPECT_EQ(key_of("NVIDIA H200"), "h200");
  EXPECT_EQ(key_of("NVIDIA GeForce RTX 4090"), "rtx4090");
  EXPECT_EQ(key_of("Tesla T4"), "t4");
  EXPECT_EQ(key_of("NVIDIA A100-SXM4-80GB"), "a100");
  EXPECT_EQ(key_of(""), "gpu");
}

}  // namespace
}  // namespace ridge::tools
