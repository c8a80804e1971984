// What the checker remembers about an access and its time. For each word of memory it keeps the
// last write and the last read, with 64 bits each.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace ridge::vm::check {

// segment 32 · flags 2 · bytes of the word 4 · thread in the block 10 · site 16
struct Record {
  uint64_t bits = 0;  // 0: nobody yet

  // For a write: kStrong (atomic, or meant for other threads to see) and kInFlight (an asynchronous
  // copy that has not landed, its segment is kNotOver; or a bulk copy that has). For a read: kStrong,
  // and kMany (other threads have read the word since). The segment of a wgmma's read is kNotOver
  // until its wait.
  static constexpr uint32_t kStrong = 1, kInFlight = 2, kMany = 2;
  // A write by a bulk copy that started while another one to the same word was under way: nobody
  // can tell which of them comes last. It stays kNotOver.
  static constexpr uint32_t kDisputed = kStrong | kInFlight;
  static constexpr uint32_t kNotOver = ~0u;

  static Record of(uint32_t segment, uint32_t flags, uint32_t bytes, uint32_t thread,
                   uint32_t site) {
    return {uint64_t(segment) << 32 | flags << 30 | bytes << 26 | thread << 16 | site};
  }
  uint32_t segment() const { return uint32_t(bits >> 32); }
  uint32_t flags() const { return uint32_t(bits) >> 30; }
  uint32_t bytes() const { return uint32_t(bits) >> 26 & 15; }
  uint32_t thread() const { return uint32_t(bits) >> 16 & 1023; }
  uint32_t site() const { return uint32_t(bits) & 0xffff; }
  Record with(uint32_t flag) const { return {bits | uint64_t(flag) << 30}; }
};

// The bytes of a word that `bytes` (1, 2 or whole words) at `at` take.
inline uint32_t mask_of(uint64_t at, uint32_t bytes) {
  return bytes >= 4 ? 15 : ((1u << bytes) - 1) << (at & 3) & 15;
}

struct Cell {
  uint64_t write = 0, read = 0;
};
// Cells of global memory are shared by all workers. A lost update may lose a report, but does no
// other harm.
inline Record get(const uint64_t& slot) { return {__atomic_load_n(&slot, __ATOMIC_RELAXED)}; }
inline void put(uint64_t& slot, Record record) {
  __atomic_store_n(&slot, record.bits, __ATOMIC_RELAXED);
}

// An epoch: the part of a warp's run between two events that order it against others. Numbers rise
// with time within a worker, and from a launch to the launches that begin after it.
struct Segment {
  uint32_t launch = 0;  // or a copy by the host
  uint32_t block = 0;
  uint32_t interval = 0;  // between barriers of the whole block
  uint32_t warp = 0;
  uint32_t tick = 0;                      // of the warp
  uint32_t turn = 0;                      // of loops, since the last barrier
  static constexpr uint32_t kTurns = 16;  // from here on they are not told apart
};

class Segments {
 public:
  // `count` new ones, neighbours; the first of them.
  uint32_t reserve(uint32_t count) {
    const std::lock_guard lock(mutex_);
    const uint32_t first = next_;
    next_ += count;
    for (uint32_t chunk = first / kChunk; chunk <= (next_ - 1) / kChunk; ++chunk)
      if (!chunks_[chunk].load(std::memory_order_relaxed))
        chunks_[chunk].store(new Segment[kChunk], std::memory_order_release);
    return first;
  }
  Segment& operator[](uint32_t id) {
    return chunks_[id / kChunk].load(std::memory_order_acquire)[id % kChunk];
  }
  bool holds(uint32_t id) const { return chunks_[id / kChunk].load(std::memory_order_acquire); }
  // Nobody asks for those below `id` any more.
  void forget_before(uint32_t id) {
    const std::lock_guard lock(mutex_);
    for (; kept_ < id / kChunk; ++kept_) delete[] chunks_[kept_].exchange(nullptr);
  }
  uint32_t next() {  // all from now on are not below it
    const std::lock_guard lock(mutex_);
    return next_;
  }

 private:
  static constexpr uint32_t kChunk = 1 << 14;
  std::mutex mutex_;
  uint32_t next_ = 1, kept_ = 0;  // kept_: the first chunk that is still there
  std::array<std::atomic<Segment*>, (1ull << 32) / kChunk> chunks_{};
};

}  // namespace ridge::vm::check
