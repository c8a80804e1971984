// A range of addresses of the device, and which parts of it nobody uses.
#pragma once

#include <cstdint>
#include <map>

namespace ridge::vm {

class Arena {
 public:
  // All of [base, base + size) is free.
  void open(uint64_t base, uint64_t size);
  bool holds(uint64_t address) const { return address - base_ < size_; }

  // 0 when there is no such gap.
  uint64_t take_lowest(uint64_t size, uint64_t align);
  uint64_t take_highest(uint64_t size, uint64_t align);
  void give_back(uint64_t base, uint64_t size);

 private:
  uint64_t base_ = 0, size_ = 0;
  std::map<uint64_t, uint64_t> gaps_;  // base -> size
};

}  // namespace ridge::vm
