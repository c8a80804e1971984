#include "model/timeline.h"

#include <gtest/gtest.h>

#include "model/elapsed.h"

namespace ridge::model {
namespace {

using Kind = Task::Kind;
constexpr double kFlushed = 120e6;  // twice the L2

// One H200, so that the tests hold whatever is measured next.
Figures measured() {
  Figures f;
  f.launch_us = 2.85;
  f.event_us = 1.28;
  f.launch_host_us = 4.01;
  f.programmatic_host_us = 3.27;
  f.other_stream_us = 0.9;
  f.wait_us = 3.18;
  f.graph_us = 3.2;
  f.graph_node_us = 0.53;
  f.programmatic_node_us = 0.51;
  f.warm_us = 0.3;
  f.to_device_us = 4.45, f.to_device_bytes = 55400;
  f.to_host_us = 3.49, f.to_host_bytes = 55200;
  f.both_ways_bytes = 100940;
  f.within_device_us = 3.72, f.within_device_bytes = 2.15e6;
  f.fill_us = 3.3, f.fill_bytes = 4.5e6;
  f.pageable_bytes = {4, 128, 4096, 32768, 262144, 2097152, 16777216, 134217728};
  f.to_device_pageable_us = {2.67, 3.25, 3.95, 9.55, 19.07, 166, 1258, 18300};
  f.to_host_pageable_us = {8.49, 8.7, 9.26, 13, 39.6, 224, 1513, 11884};
  f.staged_bytes = 65536;
  return f;
}

Task kernel(double us, uint64_t stream = 0) { return {.stream = stream, .us = us}; }
Task copy(Way way, double bytes, uint64_t stream = 0) {
  return {.kind = Kind::copy, .stream = stream, .way = way, .bytes = bytes};
}

// What was measured on an H200 comes out again; the names are those of bench/model/h200.json.
TEST(Timeline, EventsAndLaunchesTakeWhatWasMeasured) {
  const Figures f = measured();
  EXPECT_NEAR(between_events_us({}, f, 0), 1.28, 0.01);                   // event.between_two
  EXPECT_NEAR(between_events_us({kernel(0)}, f, kFlushed), 2.848, 0.01);  // around_kernel_cold
  EXPECT_NEAR(between_events_us({kernel(0), kernel(0)}, f, kFlushed), 4.384, 0.1);
  EXPECT_NEAR(between_events_us({kernel(0)}, f, 0), 5.664, 0.15);  // around_kernel
  const std::vector<Task> many(500, kernel(0));
  EXPECT_NEAR(between_events_us(many, f, 0) / 500, 3.907, 0.2);  // launch.in_stream
  EXPECT_NEAR(between_events_us({kernel(100)}, f, kFlushed), 102.85, 0.01);
}

TEST(Timeline, TheHostHearsOfTheEndLater) {
  Timeline timeline{measured()};
  timeline.add(kernel(0));
  timeline.add({.kind = Kind::synchronise});
  EXPECT_NEAR(timeline.host_us(), 8.753, 0.1);  // launch.and_wait
}

TEST(Timeline, NodesOfAGraphFollowEachOtherSooner) {
  const Figures f = measured();
  EXPECT_NEAR(per_graph_launch_us({kernel(0)}, f, 0, 1), 3.2, 0.01);  // graph.us_by_nodes
  EXPECT_NEAR(per_graph_launch_us({kernel(0)}, f, 0, 32) * 32, 19.712, 0.3);
  EXPECT_NEAR(per_graph_launch_us({kernel(0)}, f, 0, 128) * 128, 70.528, 0.3);
  // copy.event_us_by_bytes and copy.graph_us_by_bytes, 64 MiB
  EXPECT_NEAR(per_graph_launch_us({kernel(36.64 - f.launch_us)}, f, kFlushed), 34.374, 0.3);
  EXPECT_NEAR(per_graph_launch_us({kernel(4.48 - f.launch_us)}, f, kFlushed), 1.994, 0.1);  // 1 MiB
}

TEST(Timeline, AGraphOfNothingIsOver) {
  Timeline timeline{measured()};
  const size_t graph = timeline.add({.kind = Kind::graph});
  EXPECT_NEAR(timeline.span(graph).end, timeline.host_us(), 1e-6);
}

TEST(Timeline, BranchesOfAGraphOverlap) {
  Task graph = {.kind = Kind::graph};
  graph.nodes = {kernel(10), kernel(10), kernel(10), kernel(10)};
  for (Task& node : graph.nodes) node.share = 0.25;
  graph.nodes[1].after = graph.nodes[2].after = {0};
  graph.nodes[3].after = {1, 2};
  const double us = between_events_us({graph}, measured(), kFlushed);
  EXPECT_NEAR(us, 3.2 + 2 * (0.53 - 0.3) + 30, 0.05);
}

TEST(Timeline, ADependentLaunchSavesTheGap) {
  const Figures f = measured();
  Task first = kernel(20), second = kernel(20);
  const double behind = between_events_us({first, second}, f, kFlushed);
  second.is_dependent = true;
  EXPECT_NEAR(between_events_us({first, second}, f, kFlushed), behind,
              0.01);  // it is not let begin
  first.releases = true;
  EXPECT_NEAR(between_events_us({first, second}, f, kFlushed), behind - 1.57, 0.02);
  Task empty = kernel(0);
  empty.is_dependent = empty.releases = true;
  EXPECT_NEAR(between_events_us(std::vector<Task>(500, empty), f, 0) / 500, 3.2663, 0.1);
  EXPECT_NEAR(per_graph_launch_us({empty}, f, 0, 32), 0.508, 0.1);  // graph.node_programmatic
}

TEST(Timeline, PinnedCopiesTakeWhatWasMeasured) {
  const Figures f = measured();
  const auto us = [&](Way way, double bytes) {
    return between_events_us({copy(way, bytes)}, f, kFlushed);
  };
  EXPECT_NEAR(us(Way::to_device, 4), 4.448, 0.05);  // link.to_device_pinned
  EXPECT_NEAR(us(Way::to_device, 2097152), 42.24, 1);
  EXPECT_NEAR(between_events_us({copy(Way::to_device, 2097152)}, f, 0), 42.24, 1);  // an idle GPU
  EXPECT_NEAR(us(Way::to_device, 134217728), 2424.8, 10);
  EXPECT_NEAR(us(Way::to_host, 134217728), 2432.8, 10);
  EXPECT_NEAR(us(Way::within_device, 268435456), 129.57, 2);  // memcpy_device.us_by_bytes
  EXPECT_NEAR(us(Way::fill, 33554432), 10.88, 0.3);           // memset.us_by_bytes
}

TEST(Timeline, TheHostWaitsForPageableCopies) {
  for (const auto& [way, bytes, us] :
       {std::tuple(Way::to_host, 4.0, 8.491), std::tuple(Way::to_host, 2097152.0, 224.18),
        std::tuple(Way::to_device, 4096.0, 3.951),
        std::tuple(Way::to_device, 16777216.0, 1258.4)}) {
    Timeline timeline{measured()};
    Task task = copy(way, bytes);
    task.is_pageable = true;
    timeline.add(task);
    EXPECT_NEAR(timeline.host_us(), us, 0.05 * us) << bytes;
  }
}

// Both directions at once: link.both_ways.
TEST(Timeline, BothDirectionsOverlap) {
  const Figures f = measured();
  Timeline timeline(f);
  const size_t in = timeline.add(copy(Way::to_device, 134217728, 1));
  const size_t out = timeline.add(copy(Way::to_host, 134217728, 2));
  const double end = std::max(timeline.span(in).end, timeline.span(out).end);
  EXPECT_NEAR(2 * 134217728 / end * 1e-3, 100.94, 1);
  Timeline one_way(f);
  one_way.add(copy(Way::to_device, 134217728, 1));
  const size_t second = one_way.add(copy(Way::to_device, 134217728, 2));
  EXPECT_NEAR(one_way.span(second).end, 2 * 2424.8, 20);
}

TEST(Timeline, SmallKernelsOfManyStreamsRunSideBySide) {
  // streams.us_by_kernels: the host is what they wait for.
  for (const auto& [kernels, us] :
       {std::pair(1, 29.877), std::pair(16, 103.48), std::pair(128, 644.77)}) {
    Timeline timeline{measured()};
    for (int i = 0; i < kernels; ++i) {
      Task task = kernel(20, uint64_t(i));
      task.share = 1 / 132.0;
      timeline.add(task);
    }
    timeline.add({.kind = Kind::synchronise, .all_streams = true});
    EXPECT_NEAR(timeline.host_us(), us, 0.06 * us) << kernels;
  }
}

TEST(Timeline, LargeKernelsOfTwoStreamsShareTheGpu) {
  Timeline timeline{measured()};
  Task task = kernel(100, 1);
  task.share = 0.75;
  const size_t first = timeline.add(task);
  task.stream = 2;
  const size_t second = timeline.add(task);
  EXPECT_NEAR(timeline.span(first).end - timeline.span(first).begin, 100, 1e-6);
  // A third of its speed at first, then all of it.
  const auto [begin, end] = timeline.span(second);
  const double beside = timeline.span(first).end - begin;
  EXPECT_NEAR(end, timeline.span(first).end + 100 - beside / 3, 1e-6);
}

TEST(Timeline, WaitsOrderStreams) {
  Timeline timeline{measured()};
  Task small = kernel(50, 1);
  small.share = 0.1;
  const size_t one = timeline.add(small);
  const size_t event = timeline.add({.kind = Kind::event, .stream = 1});
  timeline.add({.kind = Kind::marker, .stream = 2, .after = {event}});
  small.stream = 2;
  const size_t two = timeline.add(small);
  EXPECT_GT(timeline.span(two).begin, timeline.span(one).end);
}

// reduce's cpu_partials: the host waits, works, and launches again.
TEST(Timeline, TheHostBetweenTwoKernelsCounts) {
  Task fetch = copy(Way::to_host, 1024);
  fetch.is_pageable = true;
  const std::vector<Task> works = {
      kernel(300), fetch, {.kind = Kind::synchronise}, {.kind = Kind::host, .us = 5}, kernel(1)};
  EXPECT_FALSE(can_capture(works));
  const double us = between_events_us(works, measured(), kFlushed);
  EXPECT_GT(us, 300 + 2.85 + 1 + 5 + 10);
  EXPECT_LT(us, 300 + 2.85 + 1 + 5 + 20);
}

// vector_add_streamed on 2^26 elements, as bench/results has it.
std::vector<Task> streamed(int streams, int chunks) {
  const double bytes = 268435456.0 / chunks;
  std::vector<Task> works = {{.kind = Kind::event}};
  for (int i = 0; i < streams; ++i)
    works.push_back({.kind = Kind::marker, .stream = uint64_t(i + 1), .after = {0}});
  for (int i = 0; i < chunks; ++i) {
    const auto stream = uint64_t(i % streams + 1);
    works.push_back(copy(Way::to_device, bytes, stream));
    works.push_back(copy(Way::to_device, bytes, stream));
    works.push_back(kernel(192.0 / chunks, stream));
    works.push_back(copy(Way::to_host, bytes, stream));
  }
  for (int i = 0; i < streams; ++i) {
    works.push_back({.kind = Kind::event, .stream = uint64_t(i + 1)});
    works.push_back({.kind = Kind::marker, .after = {works.size() - 1}});
  }
  return works;
}
TEST(Timeline, AStreamedPipelineTakesWhatWasMeasured) {
  const std::vector<Task> one = {copy(Way::to_device, 268435456), copy(Way::to_device, 268435456),
                                 kernel(192), copy(Way::to_host, 268435456)};
  EXPECT_NEAR(between_events_us(one, measured(), kFlushed), 14736, 0.02 * 14736);
  EXPECT_NEAR(between_events_us(streamed(2, 8), measured(), kFlushed), 10838, 0.05 * 10838);
  EXPECT_NEAR(between_events_us(streamed(4, 32), measured(), kFlushed), 10829, 0.05 * 10829);
}

TEST(Timeline, ALongQueueMakesTheHostWait) {
  Timeline timeline{measured()};
  for (int i = 0; i < 5000; ++i) timeline.add(kernel(100));
  EXPECT_GT(timeline.host_us(), 3900 * 100.0);
}

}  // namespace
}  // namespace ridge::model
