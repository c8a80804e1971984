#include "model/stream.h"

#include <gtest/gtest.h>

#include "work.h"

namespace ridge::model {
namespace {

std::vector<uint32_t> order_of(const Work& work, const std::vector<uint32_t>& stream) {
  Ordering ordering(work);
  const uint32_t* at = stream.data();
  std::vector<Next> chunk;
  ordering.take(at, stream.data() + stream.size(), chunk);
  std::vector<uint32_t> ops;
  for (const Next& next : chunk) ops.push_back(next.op);
  return ops;
}

TEST(Stream, LoadsComeBeforeWhatNeedsOthers) {
  WorkMaker make;
  const uint32_t first = make.load(1, 0), use = make.fma(2, 1), second = make.load(3, 0),
                 last = make.fma(4, 3);
  std::vector<uint32_t> stream = {first};
  WorkMaker::line(stream, 7);
  stream.insert(stream.end(), {use, second});
  WorkMaker::line(stream, 8);
  stream.push_back(last);
  EXPECT_EQ(order_of(make.work, stream), (std::vector<uint32_t>{first, second, use, last}));
}

TEST(Stream, ALoadWaitsForItsAddress) {
  WorkMaker make;
  const uint32_t first = make.load(1, 0), second = make.load(2, 1), other = make.fma(4, 3);
  std::vector<uint32_t> stream = {first};
  WorkMaker::line(stream, 7);
  stream.push_back(second);
  WorkMaker::line(stream, 8);
  stream.push_back(other);
  EXPECT_EQ(order_of(make.work, stream), (std::vector<uint32_t>{first, other, second}));
}

TEST(Stream, ALoadStaysBehindAStoreToTheSameMemory) {
  WorkMaker make;
  const uint32_t first = make.load(1, 0);
  const uint32_t store =
      make.add({.kind = Op::Kind::store, .pipe = Pipe::lsu, .accesses = 1}, {1}, {});
  const uint32_t second = make.load(2, 0), other = make.fma(4, 3);
  std::vector<uint32_t> stream;
  for (const uint32_t step : {first, store, second}) {
    stream.push_back(step);
    WorkMaker::line(stream, step);
  }
  stream.push_back(other);
  EXPECT_EQ(order_of(make.work, stream), (std::vector<uint32_t>{first, other, store, second}));
}

TEST(Stream, WhatNoLaneExecutesHasNoAccesses) {
  WorkMaker make;
  const uint32_t load = make.load(1, 0), use = make.fma(2, 1);
  const std::vector<uint32_t> stream = {load | kSwitchedOff, use};
  EXPECT_EQ(order_of(make.work, stream), (std::vector<uint32_t>{load, use}));
}

TEST(Stream, NothingPassesABarrier) {
  WorkMaker make;
  const uint32_t use = make.fma(2, 1), barrier = make.barrier(), load = make.load(3, 0);
  std::vector<uint32_t> stream = {use, barrier, load};
  WorkMaker::line(stream, 7);
  EXPECT_EQ(order_of(make.work, stream), (std::vector<uint32_t>{use, barrier}));
}

TEST(Stream, AnUnrolledLoopIsTakenSeveralTimes) {
  WorkMaker make;
  const uint32_t load = make.load(1, 0), use = make.fma(2, 1);
  const uint32_t branch = make.add({.pipe = Pipe::control, .ends = true, .repeats = 2}, {}, {});
  std::vector<uint32_t> stream;
  for (uint32_t i = 0; i < 4; ++i) {
    stream.push_back(load);
    WorkMaker::line(stream, i);
    stream.insert(stream.end(), {use, branch});
  }
  // Two iterations together: both loads first.
  const auto order = order_of(make.work, stream);
  ASSERT_EQ(order.size(), 6u);
  EXPECT_EQ(order[0], load);
  EXPECT_EQ(order[1], load);
}

}  // namespace
}  // namespace ridge::model
