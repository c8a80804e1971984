// A range of addresses of the device, and which parts of it nobody uses. What is taken gets room
// behind it that is never handed out, so that one array's end is not the next one's start.
#pragma once

#include <cstdint>
#include <map>

namespace ridge::vm {

// What a GPU maps at a time: whoever has a byte of it can reach all of it.
inline constexpr uint64_t kDevicePage = 2 << 20;
// From this size on an allocation has its pages to itself, as on hardware: what lies between its
// end and the end of its last page belongs to nobody.
inline constexpr uint64_t kOwnPages = 1 << 20;

class Arena {
 public:
  // All of [base, base + size) is free. What is taken starts on multiples of `granule`.
  void open(uint64_t base, uint64_t size, uint64_t granule);
  uint64_t begin() const { return base_; }
  bool holds(uint64_t address) const { return address - base_ < size_; }

  // 0 when there is no such gap.
  uint64_t take_lowest(uint64_t size, uint64_t align);
  uint64_t take_highest(uint64_t size, uint64_t align);
  void give_back(uint64_t base, uint64_t size);
  uint64_t footprint(uint64_t size) const;  // with the room behind it

 private:
  uint64_t granule_of(uint64_t size) const;

  uint64_t base_ = 0, size_ = 0, granule_ = 1;
  std::map<uint64_t, uint64_t> gaps_;  // base -> size
};

}  // namespace ridge::vm
