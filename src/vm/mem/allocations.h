// Every live range of memory a kernel may touch: device allocations, pinned and managed host
// memory, module variables. What makes it a device is that every access is checked against this
// table first.
//
// A device pointer is an address of the process, inside a reserved range. Pinned and managed memory
// lies where its pointers say. Other memory of the device lies somewhere else, always at the same
// distance: its pointers name addresses without memory behind them, so that the program's own
// threads cannot follow them, as on a machine with a GPU. Whoever may follow them asks `place`.
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

#include "vm/mem/arena.h"

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

// Allocation::flags of a variable with .attribute(.managed).
inline constexpr uint32_t kManagedVariable = 1;
// Allocation::flags of an array of the host whose words have no value while they hold this one.
inline constexpr uint32_t kStartsUnwritten = 1u << 31;
inline constexpr uint32_t kUnwrittenWord = 0xffa5c3d2;

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;  // as asked for
  MemKind kind = MemKind::device;
  uint32_t flags = 0;  // the runtime's own (cudaHostAllocMapped …)
  uint64_t id = 0;     // 1, 2, 3 … in order of allocation
  std::string name;    // of a variable or of an array of the host; empty for allocations
  uint64_t end() const { return base + size; }
};

class Allocations {
 public:
  // With `closed`, the program's own threads cannot touch memory of the device. With `watched`,
  // pinned and managed memory can be closed to them for a while (guard).
  explicit Allocations(uint64_t capacity_bytes, bool closed = true, bool watched = false);
  ~Allocations();
  Allocations(const Allocations&) = delete;

  // nullopt when the capacity is used up; std::bad_alloc, with nothing changed, when the host is
  // out of memory. Size 0 is the caller's business. What is in the memory is unspecified.
  std::optional<uint64_t> allocate(uint64_t size, uint64_t align, MemKind kind, uint32_t flags = 0,
                                   std::string name = {});
  // Host memory the program owns (cudaHostRegister); false when it overlaps a live range.
  bool add_registered(uint64_t base, uint64_t size, uint32_t flags, std::string name = {});
  bool rename(uint64_t base, uint64_t size, const std::string& name);  // false: it is not there
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
  bool is_device_range(uint64_t address) const {
    return device_.holds(address) || host_.holds(address);
  }

  // Where the bytes at a device's address really lie: `address + shift(address)`. The same distance
  // for all of an allocation; 0 for what is not closed to the host.
  uint64_t shift(uint64_t address) const {
    if (address - closed_ < closed_size_) return closed_shift_;
    return address - watched_ < watched_size_ ? watched_shift_ : 0;
  }
  uint8_t* place(uint64_t address) const {
    return reinterpret_cast<uint8_t*>(address + shift(address));
  }
  template <class T>
  T* place(T* pointer) const {
    return reinterpret_cast<T*>(place(reinterpret_cast<uintptr_t>(pointer)));
  }
  // A multiple of a page, from which allocations are equally far away in every run of a program.
  uint64_t origin() const { return device_.begin(); }
  // Whether the host cannot follow this address.
  bool is_closed(uint64_t address) const { return address - closed_ < closed_size_; }
  // Pinned and managed memory, while it is watched: what the host may do to the pages of [begin,
  // end). Nobody else has a part of an allocation's pages.
  bool is_watched(uint64_t address) const { return address - watched_ < watched_size_; }
  enum class Guard : uint8_t { open, read_only, shut };
  void guard(uint64_t begin, uint64_t end, Guard guard) const;
  // Whether a GPU would have [begin, end) mapped: every device page of it holds a part of a live
  // allocation. There is memory behind all of it.
  bool is_mapped_on_a_gpu(uint64_t begin, uint64_t end) const;

  uint64_t capacity() const { return capacity_; }
  uint64_t used() const;
  // Rises with every change; an access checked under an epoch stays checked until it moves.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

 private:
  struct Mapping {  // of the process, given back at the end
    uint64_t base = 0, size = 0;
    Mapping() = default;
    Mapping(const Mapping&) = delete;
    ~Mapping();
    bool map(uint64_t bytes, int protection, int file = -1);  // false: there is no room
    void unmap();
  };

  bool add_foreign(uint64_t base, uint64_t size, MemKind kind, uint32_t flags,
                   std::string name = {});
  Arena& arena_of(MemKind kind, uint32_t flags);
  void end_quarantine();  // of the range freed first

  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Allocation> live_;  // by base
  std::deque<Allocation> freed_;         // newest last; the last kQuarantine are not reused yet
  size_t quarantined_ = 0;
  std::atomic<uint64_t> epoch_{1};
  uint64_t capacity_ = 0, used_ = 0, next_id_ = 1;

  // Addresses of the device's own memory, and where that memory is; the same without `closed`.
  Mapping names_, bytes_;
  Mapping open_;           // pinned and managed memory
  Mapping watched_bytes_;  // the same again, while it is watched
  Arena device_, host_;
  uint64_t closed_ = 0, closed_size_ = 0, closed_shift_ = 0;
  uint64_t watched_ = 0, watched_size_ = 0, watched_shift_ = 0;
};

}  // namespace ridge::vm
