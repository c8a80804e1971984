// Other orders of warps and blocks than the usual one, any of which hardware may take: seeded, so
// that what goes wrong under one can be seen again. RIDGE_SCHEDULE=SEED asks for one.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace ridge::vm {

class Schedule {
 public:
  explicit Schedule(uint64_t seed = 0) : seed_(seed) {}
  static uint64_t wanted_seed();  // 0: the usual order

  explicit operator bool() const { return seed_ != 0; }
  // How many instructions a warp executes before another gets its turn.
  uint32_t turn();
  // Whether what may happen at once or later happens at once.
  bool early() { return draw() & 1; }
  void shuffle(std::span<uint32_t> order);
  // Which block comes k-th. Only neighbours change places, as many as `window`: blocks that wait
  // for earlier ones must find them under way.
  uint64_t block(uint64_t k, uint64_t blocks, uint64_t window) const;

 private:
  uint64_t draw();
  uint64_t seed_;
  std::atomic<uint64_t> draws_{0};
};

}  // namespace ridge::vm
