// Every live range of memory a kernel may touch: device allocations, pinned and managed host
// memory, module variables. A device pointer is a host address inside one reserved range, so copies
// are memcpy and kernels dereference directly; what makes it a device is that every access is
// checked against this table first.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

namespace ridge::vm {

enum class MemKind : uint8_t {
  device,
  array,
  managed,
  pinned,
  registered,
  variable,
  device_heap,
  mapped,  // a reserved range of addresses with memory behind it
};

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;  // as asked for
  MemKind kind = MemKind::device;
  uint32_t flags = 0;  // the runtime's own (cudaHostAllocMapped …)
  uint64_t id = 0;     // 1, 2, 3 … in order of allocation
  std::string name;    // a variable's name; empty for allocations
  uint64_t end() const { return base + size; }
};

class Allocations {
 public:
  explicit Allocations(uint64_t capacity_bytes);
  ~Allocations();
  Allocations(const Allocations&) = delete;

  // nullopt when the capacity is used up; std::bad_alloc, with nothing changed, when the host is out
  // of memory. Size 0 is the caller's business. What is in the memory is unspecified.
  std::optional<uint64_t> allocate(uint64_t size, uint64_t align, MemKind kind, uint32_t flags = 0,
                                   std::string name = {});
  // Host memory the program owns (cudaHostRegister); false when it overlaps a live range.
  bool add_registered(uint64_t base, uint64_t size, uint32_t flags);
  // Virtual memory: addresses of the device without memory behind them; memory taken out of the
  // capacity without addresses; and the one made accessible at the other. What lies at a reserved
  // address is the caller's business.
  std::optional<uint64_t> reserve(uint64_t size, uint64_t align);
  void unreserve(uint64_t base, uint64_t size);
  bool claim(uint64_t size);  // false when the capacity is used up
  void unclaim(uint64_t size);
  bool add_mapped(uint64_t base, uint64_t size);  // false when it overlaps a live range
  // False when `base` is not the start of a live allocation of this kind. Never throws.
  bool release(uint64_t base, MemKind kind);
  void release_all();

  std::optional<Allocation> find(uint64_t address) const;  // the live allocation that holds it
  // The newest freed one that held it.
  std::optional<Allocation> find_freed(uint64_t address) const;
  std::optional<Allocation> nearest(uint64_t address) const;  // by distance to either end
  std::vector<Allocation> live() const;
  bool is_device_range(uint64_t address) const { return address - arena_ < arena_size_; }

  uint64_t capacity() const { return capacity_; }
  uint64_t used() const;
  // Rises with every change; an access checked under an epoch stays checked until it moves.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

 private:
  bool add_foreign(uint64_t base, uint64_t size, MemKind kind, uint32_t flags);
  uint64_t take_range(uint64_t size, uint64_t align);  // lowest
  uint64_t take_highest(uint64_t size, uint64_t align);
  void return_range(uint64_t base, uint64_t size);
  void end_quarantine();  // of the range freed first

  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Allocation> live_;  // by base
  std::map<uint64_t, uint64_t> free_;    // arena gaps: base -> size
  std::deque<Allocation> freed_;         // newest last; the last kQuarantine are not reused yet
  size_t quarantined_ = 0;
  std::atomic<uint64_t> epoch_{1};
  uint64_t arena_ = 0, arena_size_ = 0, capacity_ = 0, used_ = 0, next_id_ = 1;
};

}  // namespace ridge::vm
