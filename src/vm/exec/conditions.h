// The variables that decide about conditional nodes of graphs. A graph makes them and reads them;
// kernels set them, with cudaGraphSetConditional.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace ridge::vm {

struct Condition {
  uint64_t handle = 0;  // by which programs and kernels name it
  uint32_t initial = 0;
  bool assigns_initial = false;  // at the start of each launch
  std::atomic<uint32_t> value{0};

  Condition() = default;
  ~Condition();
  Condition(const Condition&) = delete;
};
using ConditionRef = std::shared_ptr<Condition>;

// Handles are never used twice.
ConditionRef make_condition(uint32_t initial, bool assigns_initial);
ConditionRef find_condition(uint64_t handle);  // null: there is none, or no more

}  // namespace ridge::vm
