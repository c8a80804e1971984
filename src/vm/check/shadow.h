// Shadow memory of global memory: one cell per word, in pages made when first touched.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>

#include "vm/check/record.h"
#include "vm/mem/allocations.h"

namespace ridge::vm::check {

struct Page {
  static constexpr uint64_t kBytes = 4096;
  Cell cells[kBytes / 4];
  std::atomic<uint8_t> written[kBytes / 8] = {};  // bytes that have a value: a bit each
};

// The shadow of one allocation.
class Range {
 public:
  Range(const Allocation& allocation);
  ~Range();
  Range(const Range&) = delete;

  const uint64_t base, end, id;
  // Memory that starts without a value: memory to which the host cannot write unnoticed.
  const bool starts_empty;

  Page& page(uint64_t address) {  // made if it is not there
    std::atomic<Page*>& slot = pages_[(address - base_) / Page::kBytes];
    Page* found = slot.load(std::memory_order_acquire);
    return found ? *found : make(slot);
  }
  static uint64_t word(uint64_t address) { return address % Page::kBytes / 4; }

  // The host, or a copy, has given [from, to) a value.
  void set_written(uint64_t from, uint64_t to);
  // The bytes of `mask` of a word get a value. Stores of whole words by kernels need no call: their
  // records show them.
  void set_written(uint64_t word_address, uint32_t mask);
  // Of an array of the host: what is there no more kUnwrittenWord.
  void look_for_values();
  uint32_t written(uint64_t word_address) const;
  bool page_is_written(uint64_t address) const {
    return full_[(address - base_) / Page::kBytes].load(std::memory_order_relaxed);
  }

 private:
  Page& make(std::atomic<Page*>& slot);
  const uint64_t base_;  // of the first page
  const uint64_t count_;
  std::unique_ptr<std::atomic<Page*>[]> pages_;
  std::unique_ptr<std::atomic<bool>[]> full_;  // pages a copy has covered
};
using RangeRef = std::shared_ptr<Range>;

class Shadow {
 public:
  // Of the live allocation that holds the address; null when there is none.
  RangeRef find(const Allocations& memory, uint64_t address);
  void forget_freed(const Allocations& memory);
  void look_at_host_arrays(const Allocations& memory);  // those that start unwritten

 private:
  std::shared_mutex mutex_;
  std::map<uint64_t, RangeRef> ranges_;  // by base
};

}  // namespace ridge::vm::check
