#include "model/stream.h"

#include <algorithm>

namespace ridge::model {

uint32_t Ordering::loads_before(const Op& op) const {
  uint32_t loads = 0;
  for (uint32_t i = 0; i < op.reads; ++i) {
    const auto& [chunk, after] = known_[work_.registers[op.registers + i]];
    if (chunk == chunk_) loads = std::max(loads, after);
  }
  return loads;
}

void Ordering::take(const uint32_t*& at, const uint32_t* end, std::vector<Next>& chunk) {
  constexpr size_t kLongest = 512;
  chunk.clear();
  ++chunk_;
  int branches = 0;
  uint32_t stored[2] = {0, 0};  // loads do not pass stores to the same memory: global, shared
  uint32_t most = 0;
  for (bool open = true; open && at < end && chunk.size() < kLongest;) {
    const bool is_off = *at & kSwitchedOff;
    const Step& step = work_.steps[*at++ & ~kSwitchedOff];
    for (uint32_t k = step.op; k < step.op + step.ops; ++k) {
      const Op& op = work_.ops[k];
      if (is_off) {
        chunk.push_back({k, most, nullptr});
        continue;
      }
      const bool writes = op.kind == Op::Kind::store || op.kind == Op::Kind::atomic ||
                          op.kind == Op::Kind::reduction;
      uint32_t loads = loads_before(op);
      if (op.accesses && !writes) loads = std::max(loads, stored[op.is_shared]);
      if (writes) stored[op.is_shared] = loads;
      if (op.ends) loads = most;
      most = std::max(most, loads);
      chunk.push_back({k, loads, at});
      const uint32_t after = loads + (op.accesses && op.kind != Op::Kind::store);
      for (uint32_t i = 0; i < op.writes; ++i)
        known_[work_.registers[op.registers + op.reads + i]] = {chunk_, after};
      for (int a = 0; a < op.accesses; ++a) at += 2 + 2 * at[1];
      if (op.ends && ++branches >= op.repeats) open = false;
    }
  }
  std::ranges::stable_sort(chunk, {}, &Next::loads);
}

}  // namespace ridge::model
