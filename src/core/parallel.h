// Work on the host, spread over its cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/align.h"

namespace ridge {

// Calls work(first, last) for parts of 0 … count of at most `part` each, in any order and several
// at once. What is one part runs on the caller's thread.
template <class Work>
void in_parallel(int64_t count, int64_t part, const Work& work) {
  const int64_t parts = ceil_div(count, part);
  const auto cores = std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  std::atomic<int64_t> next = 0;
  const auto take = [&] {
    for (int64_t p = next++; p < parts; p = next++) work(p * part, std::min(count, (p + 1) * part));
  };
  std::vector<std::thread> others;
  for (int64_t t = 1; t < std::min(parts, cores); ++t) others.emplace_back(take);
  take();
  for (std::thread& other : others) other.join();
}

}  // namespace ridge
